import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { brandTokens } from '../../accounts/brand-color.ts';
import type { ShopLogo } from '../../accounts/shop-profile.ts';
import { formatCents } from '../../payment/money.ts';
import { type Pictures, PicturesBusyError } from '../../platform/pictures.ts';
import { createTtlCache } from '../../platform/ttl-cache.ts';
import { setCommonHeaders } from '../../web/checkout-frame/layout.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { createFixedWindowLimiter } from '../../web/rate-windows.ts';
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
/** Limit of one account, so that its links do not use up the previews of others. */
const MAXIMUM_DRAWINGS_OF_ACCOUNT = 10;

/**
 * Draws link previews, and caches them. Where a limit is reached, the queue is full, the account already has a drawing
 * in progress, or drawing fails, returns the plain picture (`isPlain`). Never rejects.
 */
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

/** Size of link previews in pixels. */
export const PREVIEW_WIDTH = 1_200;
export const PREVIEW_HEIGHT = 630;
/** Height of the line along the lower edge. */
const PREVIEW_LINE_HEIGHT = 18;
/** Colors without a brand color. */
const ownColors = { panel: '#0f3d33', 'panel-soft': '#cfe8df', line: '#7fd1b5' } as const;

const MARGIN = 90;
const LOGO_SIZE = 96;
const LONGEST_NAME = 48;
const LONGEST_LINE = 52;
const MOST_LINES = 3;

/**
 * Link preview of a checkout as SVG: shop, amount and the merchant's note, in the shop's color and with its logo. Omits
 * the payment's state, because sites store the picture.
 */
export function previewDrawing(
  { payment, account }: Pick<Checkout, 'payment' | 'account'>,
  logo: ShopLogo | null = null,
): string {
  const name = shortened(printable(account.name), LONGEST_NAME);
  const nameSize = Math.min(64, Math.floor(1_600 / Math.max(1, name.length)));
  const lines = linesOf(printable(payment.note ?? ''));
  const amount = `${formatCents(payment.amountCents)} ${payment.currency}`;
  const brand = account.brandColor === null ? null : brandTokens(account.brandColor).light;
  const {
    panel,
    'panel-soft': soft,
    line,
  } = brand === null ? ownColors : { ...brand, line: brand['panel-soft'] };
  const top = logo === null ? 170 : 240;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${PREVIEW_WIDTH}" height="${PREVIEW_HEIGHT}" viewBox="0 0 ${PREVIEW_WIDTH} ${PREVIEW_HEIGHT}">
<rect width="100%" height="100%" fill="${panel}"/>
<rect y="${PREVIEW_HEIGHT - PREVIEW_LINE_HEIGHT}" width="100%" height="${PREVIEW_LINE_HEIGHT}" fill="${line}"/>
${logo === null ? nothing : logoDrawing(logo)}
<g font-family="DejaVu Sans" fill="#fff">
<text x="${MARGIN}" y="${top}" font-size="${nameSize}" fill="${soft}">${name}</text>
<text x="${MARGIN}" y="${top + 145}" font-size="116" font-weight="700">${amount}</text>
${lines.map((words, index) => html`<text x="${MARGIN}" y="${top + 235 + index * 50}" font-size="34" fill="${soft}">${words}</text>`)}
</g>
</svg>`.toString();
}

/** Draws the logo on white, for which logos are made. Embeds it, so that nothing is loaded. */
function logoDrawing({ bytes }: ShopLogo): Html {
  const place = (margin: number) =>
    html`x="${MARGIN + margin}" y="${58 + margin}" width="${LOGO_SIZE - 2 * margin}" height="${LOGO_SIZE - 2 * margin}"`;
  return html`<rect ${place(0)} rx="16" fill="#fff"/>
<image ${place(6)} href="data:image/png;base64,${Buffer.from(bytes).toString('base64')}"/>`;
}

/** Removes the characters that XML cannot hold: control characters, unpaired surrogates and noncharacters. */
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

/** `GET /s/:shortCode/preview.png`: the picture of a checkout's link preview. */
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
      // A plain picture expires sooner. Other sites embed the picture, so cross-origin use is allowed.
      .header('cache-control', `public, max-age=${isPlain ? 60 : 3_600}`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/png')
      .send(png)
  );
}
