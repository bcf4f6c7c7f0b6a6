import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { brandTokens } from '../../accounts/brand-color.ts';
import type { ShopLogo } from '../../accounts/shop-profile.ts';
import { type Pictures, PicturesBusyError } from '../../platform/pictures.ts';
import { createTtlCache } from '../../platform/ttl-cache.ts';
import { english, formatMoneyAndCode } from '../../web/checkout-layout/languages.ts';
import { setCommonHeaders } from '../../web/checkout-layout/layout.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { createFixedWindowLimiter } from '../../web/rate-windows.ts';
import { initialOf } from './checkout-page.ts';
import type { CheckoutRequest } from './context.ts';
import { type Checkout, readCheckoutOfShortCode } from './read-checkout.ts';

interface PreviewDrawerOptions {
  readonly monotonicMs: () => number;
  readonly onFailure: (error: unknown) => void;
  readonly draw: Pictures['draw'];
}

const KEEP_MS = 60 * 60_000;
const MAXIMUM_KEPT_PICTURES = 100;
const MAXIMUM_DRAWINGS_PER_MINUTE = 60;
/** Maximum per account and minute, so that the links of one account do not use up the total limit. */
const MAXIMUM_DRAWINGS_OF_ACCOUNT = 10;

/** Creates a cached drawer of link previews. It never rejects: at a limit or on failure, it returns a plain picture. */
export function createPreviewDrawer({ monotonicMs, onFailure, draw }: PreviewDrawerOptions) {
  const pictures = createTtlCache<Buffer>({
    monotonicMs,
    keepMs: KEEP_MS,
    maximumEntries: MAXIMUM_KEPT_PICTURES,
  });
  const ofAll = createFixedWindowLimiter(MAXIMUM_DRAWINGS_PER_MINUTE, monotonicMs);
  const ofAccount = createFixedWindowLimiter(MAXIMUM_DRAWINGS_OF_ACCOUNT, monotonicMs);

  async function drawOne(accountId: string, svg: string): Promise<Buffer> {
    if (ofAccount.takeNow(accountId) > 0 || ofAll.takeNow('drawings') > 0) throw new PicturesBusyError();
    return draw(accountId, svg);
  }

  return async (accountId: string, svg: string) => {
    try {
      return { png: await pictures.fetchOrReuse(svg, () => drawOne(accountId, svg)), isPlain: false };
    } catch (error) {
      if (!(error instanceof PicturesBusyError)) onFailure(error);
      return { png: plainPreview, isPlain: true };
    }
  };
}

const plainPreview = readFileSync(new URL('./plain-preview.png', import.meta.url));

export const PREVIEW_WIDTH = 1_200;
export const PREVIEW_HEIGHT = 630;
const PREVIEW_LINE_HEIGHT = 18;
const ownColors = { panel: '#0f3d33', 'panel-soft': '#cfe8df', line: '#7fd1b5' } as const;

const MARGIN = 90;
const TEXT_WIDTH = PREVIEW_WIDTH - 2 * MARGIN;
const SIGN_SIZE = 112;
const [NAME_SIZE, AMOUNT_SIZE, LINE_SIZE] = [52, 150, 46];
const MOST_LINES = 2;

/** Draws a checkout's link preview as SVG. Omits the payment's state, because sites store the picture. */
export function previewDrawing(
  { payment, account }: Pick<Checkout, 'payment' | 'account'>,
  logo: ShopLogo | null = null,
): string {
  const name = printable(account.name);
  const amount = formatMoneyAndCode(english, payment.amountCents, payment.currency);
  const brand = account.brandColor === null ? null : brandTokens(account.brandColor).light;
  const {
    panel,
    'panel-soft': soft,
    line,
  } = brand === null ? ownColors : { ...brand, line: brand['panel-soft'] };
  const [nameLine = ''] = linesOf(name, (TEXT_WIDTH - SIGN_SIZE - 32) / NAME_SIZE, 1);
  const lines = linesOf(
    printable(payment.orderLine ?? payment.note ?? ''),
    TEXT_WIDTH / LINE_SIZE,
    MOST_LINES,
  );
  const amountSize = Math.min(AMOUNT_SIZE, Math.floor(TEXT_WIDTH / widthOf(amount)));
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${PREVIEW_WIDTH}" height="${PREVIEW_HEIGHT}" viewBox="0 0 ${PREVIEW_WIDTH} ${PREVIEW_HEIGHT}">
<rect width="100%" height="100%" fill="${panel}"/>
<rect y="${PREVIEW_HEIGHT - PREVIEW_LINE_HEIGHT}" width="100%" height="${PREVIEW_LINE_HEIGHT}" fill="${line}"/>
<g font-family="Inter, Noto Sans Arabic, Noto Sans Devanagari, Sawarabi Gothic, DejaVu Sans" fill="#fff">
${sign(name, logo, panel)}
${textLine(nameLine, MARGIN + SIGN_SIZE + 32, 154, html`font-size="${NAME_SIZE}"`)}
<text x="${MARGIN}" y="370" font-size="${amountSize}" font-weight="700">${amount}</text>
${lines.map((words, index) => textLine(words, MARGIN, 462 + index * 62, html`font-size="${LINE_SIZE}" fill="${soft}"`))}
</g>
</svg>`.toString();
}

/** Draws a line of text from its left edge. The first letter decides the direction. */
function textLine(words: string, x: number, y: number, style: Html): Html {
  const isRightToLeft = /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(words);
  return html`<text x="${x}" y="${y}" ${style}${isRightToLeft ? html` direction="rtl" text-anchor="end"` : nothing}>${words}</text>`;
}

/** Draws the logo on white, or the shop's initial. Embeds the logo, so that rendering loads nothing. */
function sign(name: string, logo: ShopLogo | null, panel: string): Html {
  const place = (margin: number) =>
    html`x="${MARGIN + margin}" y="${80 + margin}" width="${SIGN_SIZE - 2 * margin}" height="${SIGN_SIZE - 2 * margin}"`;
  return html`<rect ${place(0)} rx="22" fill="#fff"/>
${
  logo === null
    ? html`<text x="${MARGIN + SIGN_SIZE / 2}" y="157" font-size="58" font-weight="700" text-anchor="middle"
fill="${panel}">${initialOf(name.replace(/^[^\p{L}\p{N}]+/u, ''))}</text>`
    : html`<image ${place(8)} href="data:image/png;base64,${Buffer.from(logo.bytes).toString('base64')}"/>`
}`;
}

/** Replaces characters that XML forbids: control characters, unpaired surrogates and noncharacters. */
function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]+/gu, ' ')
    .trim();
}

/** Returns an upper estimate of a text's width in Inter, in multiples of the font size. */
function widthOf(text: string): number {
  const widths = [...text].map(
    (character) => characterWidths.find(([form]) => form.test(character))?.[1] ?? 0.6,
  );
  return widths.reduce((sum, width) => sum + width, 0);
}

const characterWidths: readonly (readonly [RegExp, number])[] = [
  [/[\u1100-\uffff\u{1f000}-\u{3ffff}]/u, 1],
  [/[mwMW@%—]/, 0.95],
  [/[A-Z$]/, 0.7],
  [/[\s.,:;'|!()\-fijlrtI]/, 0.36],
];

/** Breaks a text into lines between words, or within a long word. Replaces what does not fit with an ellipsis. */
function linesOf(text: string, width: number, most: number): readonly string[] {
  const lines = [''];
  const last = () => lines.at(-1) ?? '';
  const fits = (longer: string) => widthOf(`${longer}…`) <= width;
  for (const { segment } of words.segment(text)) {
    if (!fits(last() + segment) && lines.length < most && last() !== '') lines.push('');
    for (const piece of fits(last() + segment) ? [segment] : segment) {
      if (fits(last() + piece)) lines.push(`${lines.pop()}${piece}`.trimStart());
      else if (lines.length < most) lines.push(piece);
      else return [...lines.slice(0, -1), `${last().trimEnd()}…`];
    }
  }
  return lines.filter((line) => line !== '');
}

const words = new Intl.Segmenter('en', { granularity: 'word' });

export async function showPreview(
  drawPreview: ReturnType<typeof createPreviewDrawer>,
  { context, reply, params }: CheckoutRequest<'shortCode'>,
): Promise<FastifyReply> {
  const checkout = await readCheckoutOfShortCode(context, params.shortCode);
  const { id, logoHash } = checkout.account;
  const logo = logoHash === null ? null : await context.accounts.findLogo(logoHash);
  const { png, isPlain } = await drawPreview(id, previewDrawing(checkout, logo));
  return (
    setCommonHeaders(reply)
      // The plain picture expires sooner. Cross-origin use is allowed, because other sites embed the picture.
      .header('cache-control', `public, max-age=${isPlain ? 60 : 3_600}`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/png')
      .send(png)
  );
}
