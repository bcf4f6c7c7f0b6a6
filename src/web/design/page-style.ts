import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import { sendCompressed } from '../compression.ts';
import { Html, html, newNonce, nothing } from './html.ts';

/** Returns the content of a page's `<style>`, minified: tokens, shared styles, components and the page's own styles. */
export function pageStyleOf(components: readonly string[], ...own: readonly URL[]): Html {
  const shared = ['tokens', 'base', ...components.map((name) => `components/${name}`)];
  const files = [...shared.map((name) => new URL(`./${name}.css`, import.meta.url)), ...own];
  const sheet = files.map((file) => readFileSync(file, 'utf8')).join('');
  return new Html(minified(withoutUnusedTokens(withoutConstantTokens(sheet))));
}

/** Returns a script without comments, indentation and unneeded spaces. String literals must not span lines. */
export function readScript(file: URL): string {
  return readFileSync(file, 'utf8')
    .replaceAll(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*/g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\s+/gm, '')
    .replaceAll(/([;{,(])\n/g, '$1')
    .replaceAll(
      /('(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)| *([=<>?:&|,;{}()!]+) */g,
      (_, quoted?: string, marks?: string) => quoted ?? marks ?? '',
    );
}

/** Removes comments, unneeded spaces and leading zeros. Quoted strings stay unchanged. */
function minified(sheet: string): string {
  return sheet
    .replaceAll(/\/\*(?:(?!\*\/)[\s\S])*\*\//g, '')
    .replaceAll(
      /("[^"]*"|'[^']*')|\s*([{},;>~/])\s*|(:)\s+|\b0(?=\.\d)()|\s+/g,
      (_, ...parts: (string | undefined)[]) => parts.slice(0, 4).find((part) => part !== undefined) ?? ' ',
    )
    .replaceAll(';}', '}')
    .trim();
}

/** Inlines tokens with a single value for all pages, such as sizes. Colors depend on scheme and shop. */
function withoutConstantTokens(sheet: string): string {
  const [tokens = ''] = /:root \{[^}]*/.exec(sheet) ?? [];
  return [...tokens.matchAll(/(--[\w-]+): ([^;]+)/g)]
    .filter(([, name]) => sheet.split(`${name}:`).length === 2)
    .reduce((text, [, name, value = '']) => text.replaceAll(`var(${name})`, value), sheet);
}

/** Removes tokens that no rule uses, directly or through other tokens. */
function withoutUnusedTokens(sheet: string): string {
  const less = sheet.replaceAll(/(--[\w-]+):[^;}]*;?/g, (declaration, name) =>
    sheet.includes(`var(${name})`) ? declaration : '',
  );
  return less === sheet ? sheet : withoutUnusedTokens(less);
}

export const noContentPolicy = "default-src 'none'; frame-ancestors 'none'";

export const pageHeaders = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

export interface Page {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  /** Color of the icon in hex digits. */
  readonly color: string;
  readonly style: Html;
  readonly brand?: string | null;
  readonly head: Html;
  readonly body: Html;
  readonly script: Html;
}

const UNFRAMED = "frame-ancestors 'none'";

/**
 * Sends a page with a policy that allows only its own style and script, and forms that lead to `formTargets`.
 *
 * @param framing policy directives for what may frame the page and what it may frame
 */
export function sendHtml(
  reply: FastifyReply,
  page: Page,
  formTargets: string,
  { isCompressed = true, framing = UNFRAMED } = {},
): FastifyReply {
  const nonce = newNonce();
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    `form-action ${formTargets}`,
    "base-uri 'none'",
    framing,
  ];
  reply.header('content-security-policy', policy.join('; ')).type('text/html; charset=utf-8');
  const bytes = Buffer.from(markupOf(page, nonce).toString());
  return isCompressed ? sendCompressed(reply, bytes) : reply.send(bytes);
}

function markupOf(page: Page, nonce: string): Html {
  const { language, direction, color, style, brand = null, head, body, script } = page;
  const icon =
    `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' ` +
    `height='16' rx='4' fill='%23${color}'/%3E%3Cpath d='M4 8.5l2.6 2.6L12 5.6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E`;
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${icon}">
<style nonce="${nonce}">${style}</style>
${
  brand === null
    ? nothing
    : html`<style nonce="${nonce}">${brand}</style>
`
}${head}
</head>
<body>
${body}
${script === nothing ? nothing : html`<script nonce="${nonce}" type="module">${script}</script>`}
</body>
</html>
`;
}
