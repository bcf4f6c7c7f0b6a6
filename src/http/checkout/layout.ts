import { pageLocale } from './format-money.ts';
import { type Html, html, nothing } from './html.ts';
import { pageScript, pageStyle } from './page-assets.ts';

/** A whole page: what its head says, and the parts between which customers move by landmark. */
export interface PageParts {
  readonly title: string;
  readonly nonce: string;
  readonly isSandbox: boolean;
  /** What else belongs into the head. */
  readonly head?: Html;
  /** Who asks for how much; left out where there is no payment. */
  readonly summary?: Html;
  readonly main: Html;
  readonly script?: Html;
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b5f4a'/%3E%3Cpath d='M4 8.5l2.6 2.6L12 5.6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

/** The frame that all pages share. */
export function layout(parts: PageParts): Html {
  const { title, nonce, isSandbox, head, summary, main, script } = parts;
  return html`<!doctype html>
<html lang="${pageLocale}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="${icon}">
${head ?? nothing}
<style nonce="${nonce}">${pageStyle}</style>
</head>
<body>
${isSandbox ? sandboxBanner() : nothing}
<div class="page">
${summary ?? nothing}
${main}
</div>
<script nonce="${nonce}" type="module">${script ?? pageScript}</script>
</body>
</html>
`;
}

function sandboxBanner(): Html {
  return html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox.</strong> This is a test: no card is charged and no real money moves.</aside>`;
}
