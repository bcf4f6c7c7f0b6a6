import type { FastifyReply, FastifyRequest } from 'fastify';
import { brandTokens } from '../../accounts/brand-color.ts';
import { onFirstUse } from '../../platform/on-first-use.ts';
import { isSecureUrl } from '../../platform/public-address.ts';
import { sendCompressed } from '../compression.ts';
import { Html, html, nothing } from '../design/html.ts';
import {
  noContentPolicy,
  type Page,
  pageHeaders,
  pageStyleOf,
  readScript,
  sendHtml,
} from '../design/page-style.ts';
import { fillText, type Language, languages } from './languages.ts';

/** Returns the style and script of a kind of page, inlined so that the first paint needs only one response. */
function kindOf(components: readonly string[], styles: readonly string[], scripts: readonly string[]) {
  const asset = (path: string) => new URL(path, import.meta.url);
  return onFirstUse((isTestMode: boolean) => {
    const more = isTestMode ? ['../design/components/sandbox.css', './sandbox.css'] : [];
    const texts = [...scripts, './client/language-menu.js'].map((path) => readScript(asset(path)));
    return {
      style: pageStyleOf(components, ...[...styles, ...more, './checkout.css'].map(asset)),
      script: new Html(texts.join('\n')),
    };
  });
}

/** Returns the assets of a page that follows its payment: the styles of all states, so that a change loads nothing. */
const followerOf = (style: string, ...scripts: readonly string[]) =>
  kindOf(['button', 'card', 'banner'], ['./payment.css', style], scripts);
const follow = './client/follow-payment.js';
const inFrame = './client/in-frame.js';
const inWindow = './client/return-to-shop.js';
const wallet = './client/pay-from-wallet.js';

const kinds = {
  follow: followerOf('./offers.css', inWindow, follow),
  followInFrame: followerOf('./offers.css', inFrame, follow),
  followTransfer: followerOf('./transfer.css', inWindow, follow, wallet),
  followTransferInFrame: followerOf('./transfer.css', inFrame, follow, wallet),
  form: kindOf(['button', 'card', 'banner', 'field'], ['./form.css'], ['./client/suggested-amount.js']),
  message: kindOf(['button', 'card'], ['./message.css'], []),
  continue: kindOf(['button', 'card'], ['./message.css'], ['./client/continue-from-link.js']),
};

interface PageParts {
  readonly language: Language;
  /** Path for the links to other languages; defaults to the current path. */
  readonly languagePath?: string;
  readonly title: string;
  readonly isTestMode: boolean;
  readonly head?: Html;
  readonly summary?: Html;
  /** The shop's color; null or absent for the default. */
  readonly brandColor?: string | null;
  readonly main: Html;
  readonly kind: keyof typeof kinds;
}

export function layout(parts: PageParts): Page {
  const { language, languagePath = '', title, isTestMode, head, summary, main, kind } = parts;
  const { brandColor = null } = parts;
  const { style, script } = kinds[kind](isTestMode);
  return {
    language: language.code,
    direction: language.direction,
    color: '0c5a49',
    style,
    brand: brandColor === null ? null : brandStyleOf(brandColor),
    head: html`<title>${title}</title>
${head ?? nothing}`,
    body: html`${isTestMode ? sandboxBanner(language) : nothing}
<div class="page">
${summary ?? nothing}
${languageLinks(language, languagePath)}
${main}
</div>`,
    script,
  };
}

function brandStyleOf(color: string): string {
  const { light, dark } = brandTokens(color);
  const rule = (tokens: object) =>
    `:root{${Object.entries(tokens)
      .map(([name, value]) => `--${name}:${value}`)
      .join(';')}}`;
  return `${rule(light)}@media(prefers-color-scheme:dark){${rule(dark)}}`;
}

function sandboxBanner(language: Language): Html {
  const { name, sentence } = language.words.sandbox;
  return html`<aside class="sandbox" aria-label="${name}"><strong>${name}</strong>${language.gap}${sentence}</aside>`;
}

/** Returns links to all languages, each in its own language, for visitors who cannot read the page. */
function languageLinks(current: Language, path: string): Html {
  const links = languages.map(({ code, words }) =>
    code === current.code
      ? html`<li><span lang="${code}" aria-current="true">${words.languageName}</span></li>`
      : html`<li><a href="${path}?lang=${code}" lang="${code}">${words.languageName}</a></li>`,
  );
  const { chooseLanguage } = current.words;
  return html`<nav class="languages" aria-label="${chooseLanguage}"><details>
<summary><span class="quiet">${chooseLanguage}: </span>${current.code.toUpperCase()} <span aria-hidden="true">▾</span></summary>
<ul>${links}</ul></details></nav>`;
}

export function messagePage(message: {
  readonly heading: string;
  readonly sentence: string;
  readonly language: Language;
  readonly isTestMode: boolean;
  readonly link?: { readonly href: string; readonly label: string } | undefined;
}): Page {
  const { heading, sentence, language, isTestMode, link } = message;
  return layout({
    language,
    title: heading,
    isTestMode,
    kind: 'message',
    main: html`<main class="card alone">
<h1>${heading}</h1>
<p>${sentence}</p>
${link === undefined ? nothing : html`<p><a class="button primary wide" href="${link.href}">${link.label}</a></p>`}
</main>`,
  });
}

/** Returns a link to the referring site; undefined if there is no referrer, or if it is this site. */
export function linkBack({ headers: { referer } }: FastifyRequest, baseUrl: string, { words }: Language) {
  const from = URL.parse(referer ?? '');
  if (from === null || !isSecureUrl(from) || from.origin === new URL(baseUrl).origin) return undefined;
  return { href: `${from.origin}/`, label: fillText(words.shop.back, { shop: from.host }) };
}

export function sendUnknownPage(
  context: PageReply['context'] & { readonly isTestMode: boolean },
  language: Language,
  reply: FastifyReply,
): FastifyReply {
  const { isTestMode } = context;
  const link = linkBack(reply.request, context.baseUrl, language);
  const page = messagePage({ ...language.words.messages.unknownPage, language, isTestMode, link });
  return sendPage({ context, reply }, 404, page);
}

const commonHeaders = {
  ...pageHeaders,
  // Sends only the origin, which some providers check. The path must stay secret, because it opens the checkout.
  'referrer-policy': 'strict-origin',
  // Stops proxies from buffering events.
  'x-accel-buffering': 'no',
} as const;

/**
 * Returns the targets allowed for forms. Chrome applies `form-action` to redirects, too, and providers redirect to
 * unknown hosts, so every https host is allowed. A page served over HTTP (in live mode, only on loopback) allows HTTP.
 */
function formTargetsOf(baseUrl: string): string {
  return `'self' https:${baseUrl.startsWith('http:') ? ' http:' : ''}`;
}

interface PageReply {
  readonly context: { readonly baseUrl: string };
  readonly reply: FastifyReply;
}

/** @param shops origins of the pages that may frame this one */
export function sendPage(
  { context: { baseUrl }, reply }: PageReply,
  status: number,
  page: Page,
  shops: readonly string[] = [],
): FastifyReply {
  reply.code(status).headers(commonHeaders);
  if (shops.length === 0) return sendHtml(reply, page, formTargetsOf(baseUrl));
  // X-Frame-Options cannot name hosts. Browsers that support `frame-ancestors` ignore it.
  reply.removeHeader('x-frame-options');
  return sendHtml(reply, page, formTargetsOf(baseUrl), { framing: `frame-ancestors ${shops.join(' ')}` });
}

/** Sends an example of a page, without its script, for a frame in the dashboard. */
export function sendExample(reply: FastifyReply, page: Page): FastifyReply {
  const headers = { ...commonHeaders, 'x-frame-options': 'SAMEORIGIN' };
  const framing = "frame-ancestors 'self'; sandbox allow-same-origin";
  return sendHtml(reply.headers(headers), { ...page, script: nothing }, "'none'", { framing });
}

const shopScript = Buffer.from(readScript(new URL('./client/checkout.js', import.meta.url)));

/** Answers `GET /checkout.js` with the script for shop pages. */
export function sendShopScript(reply: FastifyReply): FastifyReply {
  setCommonHeaders(reply).type('text/javascript; charset=utf-8').headers({
    'cache-control': 'public, max-age=3600',
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': '*',
  });
  return sendCompressed(reply, shopScript);
}

/** Sets the headers of responses other than pages, such as redirects and answers to the page's script. */
export function setCommonHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers(commonHeaders).header('content-security-policy', noContentPolicy);
}
