import { formatCents } from '../../domain/money.ts';
import { html, nothing } from '../design/html.ts';
import type { Checkout } from './read-checkout.ts';

/** As link previews want it, in pixels. */
export const PREVIEW_WIDTH = 1_200;
export const PREVIEW_HEIGHT = 630;
/** Of the line along its lower edge. */
export const PREVIEW_LINE_HEIGHT = 18;
export const PREVIEW_COLOURS = { ground: '#0f3d33', line: '#7fd1b5' } as const;

const MARGIN = 90;
const LONGEST_NAME = 48;
const LONGEST_LINE = 52;
const MOST_LINES = 3;

/**
 * What a link preview shows of a checkout, as SVG: shop and amount, and the merchant's note, which belongs to previews.
 * It says nothing of the payment's state, because those who keep the picture do not ask again. Everything in it is
 * text, and nothing leads out of it.
 */
export function previewDrawing({ payment, account }: Pick<Checkout, 'payment' | 'account'>): string {
  const name = shortened(printable(account.name), LONGEST_NAME);
  const nameSize = Math.min(64, Math.floor(1_600 / Math.max(1, name.length)));
  const lines = linesOf(printable(payment.note ?? ''));
  const amount = `${formatCents(payment.amountCents)} ${payment.currency}`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${PREVIEW_WIDTH}" height="${PREVIEW_HEIGHT}" viewBox="0 0 ${PREVIEW_WIDTH} ${PREVIEW_HEIGHT}">
<rect width="100%" height="100%" fill="${PREVIEW_COLOURS.ground}"/>
<rect y="${PREVIEW_HEIGHT - PREVIEW_LINE_HEIGHT}" width="100%" height="${PREVIEW_LINE_HEIGHT}" fill="${PREVIEW_COLOURS.line}"/>
<g font-family="DejaVu Sans" fill="#fff">
<text x="${MARGIN}" y="170" font-size="${nameSize}" fill="#cfe8df">${name}</text>
<text x="${MARGIN}" y="320" font-size="116" font-weight="700">${amount}</text>
${lines.length === 0 ? nothing : lines.map((line, index) => html`<text x="${MARGIN}" y="${420 + index * 54}" font-size="34" fill="#cfe8df">${line}</text>`)}
</g>
</svg>`.toString();
}

/** Without what XML cannot hold: control characters, halves of pairs, and what is no character at all. */
function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]+/gu, ' ')
    .trim();
}

function shortened(text: string, longest: number): string {
  const characters = [...text];
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}

/** A note in a few lines, broken between words where there are any. */
function linesOf(note: string): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of note.split(/\s+/).filter((each) => each !== '')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if ([...longer].length <= LONGEST_LINE) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = shortened(word, LONGEST_LINE);
  }
  if (line !== '') lines.push(line);
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES - 1), `${lines[MOST_LINES - 1]}…`];
}
