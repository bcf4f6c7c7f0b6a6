import type { Account } from '../../accounts/account.ts';
import { brandTokens } from '../../accounts/brand-color.ts';
import type { Language } from '../../web/checkout-layout/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';

export interface ReceiptContent {
  readonly amount: string;
  readonly heading: string;
  readonly sentence: string | null;
  readonly rows: readonly ReceiptRow[];
  readonly page: ReceiptRow;
  readonly questions: ReceiptRow | null;
  readonly closing: readonly string[];
}

export interface ReceiptRow {
  readonly term: string;
  readonly value: string;
  readonly url?: string | null;
}

/** Content ID of the logo, which is inline, because remote images are often blocked and reveal who opens the email. */
export const LOGO_CID = 'logo';
/** Accent color without a brand color, as in `tokens.css`. */
const OWN_COLOR = '#0c5a49';
const FONTS = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/** Renders an email with inline styles, which Gmail and Outlook support. Only dark mode needs a style sheet. */
export function receiptHtml(
  { amount, heading, sentence, rows, page, questions, closing }: ReceiptContent,
  subject: string,
  { account, hasLogo }: { readonly account: Account; readonly hasLogo: boolean },
  { code, direction }: Language,
): string {
  const { light, dark } = brandTokens(account.brandColor ?? OWN_COLOR);
  return html`<!doctype html>
<html lang="${code}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${subject}</title>
<style>:root{color-scheme:light dark}@media(prefers-color-scheme:dark){.ground{background:#0e1412!important}
.panel{background:${dark.panel}!important}.sheet{background:#161e1b!important;color:#ebf2ee!important}.soft{color:#a7b6af!important}
.line{border-color:#2e3a35!important}.link{color:${dark.accent}!important}
.button{background:${dark.accent}!important;color:${dark['accent-text']}!important}}</style></head>
<body class="ground" dir="${direction}" style="margin:0;padding:24px 12px;background:#f5f4ef;font:16px/1.5 ${FONTS}">
<div style="max-width:560px;margin:0 auto">
<div class="panel" style="padding:24px;background:${light.panel};color:#fff;border-radius:14px 14px 0 0">
<p style="margin:0;font-size:18px">${hasLogo ? logo : nothing}<bdi>${account.name}</bdi></p>
<p style="margin:12px 0 0;font-size:40px;line-height:1.2;font-weight:700"><bdi>${amount}</bdi></p></div>
<div class="sheet" style="padding:24px;background:#fff;color:#15201c;border-radius:0 0 14px 14px">
<h1 style="margin:0;font-size:20px;line-height:1.4">${heading}</h1>
${sentence === null ? nothing : html`<p style="margin:8px 0 0">${sentence}</p>`}
<div style="margin:20px 0">${rows.map((row) => rowOf(row, light.accent))}</div>
<p style="margin:0"><a class="button" href="${page.url ?? ''}" style="display:inline-block;padding:12px 20px;background:${light.accent};
color:#fff;border-radius:8px;font-weight:600;text-decoration:none">${page.term}</a></p>
${questions === null ? nothing : html`<div style="margin:20px 0 0">${rowOf(questions, light.accent)}</div>`}
${closing.map((sentence) => html`<p class="soft" style="margin:16px 0 0;color:#54615b;font-size:14px">${sentence}</p>`)}
</div></div></body></html>`.toString();
}

const logo = html`<img src="cid:${LOGO_CID}" alt="" width="40" height="40" style="padding:2px;background:#fff;
border-radius:8px;vertical-align:middle;object-fit:contain">&nbsp; `;

function rowOf({ term, value, url }: ReceiptRow, color: string): Html {
  const shown =
    url == null
      ? html`<bdi>${value}</bdi>`
      : html`<a class="link" href="${url}" style="color:${color}">${shortened(value)}</a>`;
  return html`<p class="line" style="margin:0;padding:10px 0;border-top:1px solid #dddcd3;overflow-wrap:anywhere">
<span class="soft" style="color:#54615b;font-size:14px">${term}</span><br>${shown}</p>`;
}

/** Shortens a transaction hash to "0x1234abcd…89ef". */
function shortened(value: string): string {
  return /^0x[0-9a-f]{64}$/i.test(value) ? `${value.slice(0, 10)}…${value.slice(-4)}` : value;
}
