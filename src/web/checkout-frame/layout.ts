import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { brandTokens } from '../../accounts/brand-color.ts';
import { sendCompressed } from '../compression.ts';
import { Html, html, newNonce, nothing } from '../design/html.ts';
import {
  contentSecurityPolicy,
  type DesignComponent,
  noContentPolicy,
  pageBeginning,
  pageHeaders,
  pageStyleOf,
  readScript,
} from '../design/page-style.ts';
import { type Language, type LanguageCode, languages } from './languages.ts';

/**
 * Style and script are inlined in the page, so that the first paint needs one response only. They are the project's own
 * files, so they are inserted unescaped. A page gets the rules that its kind needs: `checkout.css` is the frame, and
 * comes last.
 */
const pageKinds = {
  /** Follows its payment: any state may be shown without another request. */
  follow: {
    style: ['./payment.css', './offers.css'],
    components: ['button', 'card', 'banner'],
    script: ['./client/follow-payment.js'],
  },
  /** The same for a direct payment, which is paid from a wallet and at no provider. */
  followTransfer: {
    style: ['./payment.css', './transfer.css'],
    components: ['button', 'card', 'banner'],
    script: ['./client/copy-text.js', './client/follow-payment.js', './client/pay-from-wallet.js'],
  },
  /** The same for a partial payment, whose rest is paid at a provider or from a wallet. */
  followRest: {
    style: ['./payment.css', './offers.css'],
    components: ['button', 'card', 'banner'],
    script: ['./client/copy-text.js', './client/follow-payment.js'],
  },
  /** A form that leads on. */
  form: {
    style: ['./form.css'],
    components: ['button', 'card', 'banner', 'field'],
    script: ['./client/send-once.js'],
  },
  message: { style: [], components: ['button', 'card'], script: [] },
  /** Continues from a short link. */
  continue: { style: [], components: ['button', 'card'], script: ['./client/continue-from-link.js'] },
} as const satisfies Readonly<
  Record<
    string,
    { style: readonly string[]; components: readonly DesignComponent[]; script: readonly string[] }
  >
>;
type PageKind = keyof typeof pageKinds;

function asset(path: string): URL {
  return new URL(path, import.meta.url);
}

/** A whole page: its head, and the parts between which customers move by landmark. */
interface PageParts {
  readonly language: Language;
  /** The page's address in other languages; omitted if it is its own address. */
  readonly languagePath?: string;
  readonly title: string;
  readonly isTestMode: boolean;
  /** Further elements of the head. */
  readonly head?: Html;
  /** The merchant and the amount; omitted without a payment. */
  readonly summary?: Html;
  /** The shop's color; null or absent for the service's own. */
  readonly brandColor?: string | null;
  readonly main: Html;
  readonly kind: PageKind;
  /** The content at `place` in the main part; streamed piece by piece unless it is known. */
  readonly streamed?: {
    readonly place: Html;
    readonly pieces: (nonce: string) => Html | AsyncIterable<Html>;
  };
}

/** A page without the nonce of its answer; in one piece, or as a stream of pieces. */
export type Page = (nonce: string) => Buffer | Readable;

/*
 * The bytes that are the same on all pages, three quarters of one, are encoded once: flattening and encoding them for
 * each visitor took a quarter of the time that a page costs.
 */
const beginnings = Object.fromEntries(
  languages.map(({ code, direction }) => [code, bytesOf(pageBeginning(code, direction, '0c5a49'))]),
) as Readonly<Record<LanguageCode, Buffer>>;
const kinds = Object.fromEntries(
  Object.entries(pageKinds).map(([kind, { style, components, script }]) => {
    const scripts = script.map((name) => readScript(asset(name)));
    const styleOf = (...more: string[]) =>
      bytesOf(html`">${pageStyleOf(components, ...[...style, ...more, './checkout.css'].map(asset))}</style>
`);
    return [
      kind,
      {
        style: styleOf(),
        sandboxStyle: styleOf('./sandbox.css'),
        end: bytesOf(html`">${new Html(scripts.join('\n'))}</script>
</body>
</html>
`),
      },
    ];
  }),
) as Readonly<Record<PageKind, { style: Buffer; sandboxStyle: Buffer; end: Buffer }>>;

/** The frame that all pages share. */
export function layout(parts: PageParts): Page {
  const { language, languagePath = '', title, isTestMode, head, summary, main, kind, streamed } = parts;
  const { brandColor = null } = parts;
  const own = html`<title>${title}</title>
${head ?? nothing}
</head>
<body>
${isTestMode ? sandboxBanner(language) : nothing}
<div class="page">
${summary ?? nothing}
${main}
${languageLinks(language, languagePath)}
</div>
`;
  return (nonce) => {
    const { style, sandboxStyle, end: scriptAndEnd } = kinds[kind];
    const brand =
      brandColor === null
        ? []
        : [Buffer.from(`<style nonce="${nonce}">${brandStyleOf(brandColor)}</style>\n`)];
    const beginning = [
      beginnings[language.code],
      Buffer.from(nonce),
      isTestMode ? sandboxStyle : style,
      ...brand,
    ];
    const end = [Buffer.from(`<script nonce="${nonce}" type="module`), scriptAndEnd];
    const text = own.toString();
    if (streamed === undefined) return Buffer.concat([...beginning, Buffer.from(text), ...end]);
    const place = streamed.place.toString();
    const pieces = streamed.pieces(nonce);
    if (pieces instanceof Html) {
      const whole = text.replace(place, () => pieces.toString());
      return Buffer.concat([...beginning, Buffer.from(whole), ...end]);
    }
    const at = text.indexOf(place);
    const before = Buffer.concat([...beginning, Buffer.from(text.slice(0, at))]);
    const after = Buffer.concat([Buffer.from(text.slice(at + place.length)), ...end]);
    return Readable.from(inPieces(before, pieces, after), { objectMode: false });
  };
}

const brandStyles = new LRUCache<string, string>({ max: 500 });

/** The tokens that the shop's color changes, as a style sheet. */
function brandStyleOf(color: string): string {
  const known = brandStyles.get(color);
  if (known !== undefined) return known;
  const { light, dark } = brandTokens(color);
  const rule = (tokens: object) =>
    `:root{${Object.entries(tokens)
      .map(([name, value]) => `--${name}:${value}`)
      .join(';')}}`;
  const style = `${rule(light)}@media(prefers-color-scheme:dark){${rule(dark)}}`;
  brandStyles.set(color, style);
  return style;
}

/** The pieces of a page in their order, each as soon as it is ready. */
async function* inPieces(before: Buffer, pieces: AsyncIterable<Html>, after: Buffer): AsyncGenerator<Buffer> {
  yield before;
  for await (const piece of pieces) yield bytesOf(piece);
  yield after;
}

function sandboxBanner({ words }: Language): Html {
  const { name, sentence } = words.sandbox;
  return html`<aside class="sandbox" aria-label="${name}"><strong>${name}</strong> ${sentence}</aside>`;
}

/** Each language by its own name, so that visitors who cannot read the page find theirs. */
function languageLinks(current: Language, path: string): Html {
  const links = languages.map(({ code, words }) =>
    code === current.code
      ? html`<li><span lang="${code}" aria-current="true">${words.languageName}</span></li>`
      : html`<li><a href="${path}?lang=${code}" lang="${code}">${words.languageName}</a></li>`,
  );
  return html`<nav class="languages" aria-label="${current.words.chooseLanguage}"><ul>${links}</ul></nav>`;
}

function bytesOf(markup: Html): Buffer {
  return Buffer.from(markup.toString());
}

/** A page with a message only: an unknown link, an internal failure. */
export function messagePage(message: {
  readonly heading: string;
  readonly sentence: string;
  readonly language: Language;
  readonly isTestMode: boolean;
  /** The link to continue with. */
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

/** Answers with the page of an unknown link. */
export function sendUnknownLink(
  context: PageReply['context'] & { readonly isTestMode: boolean },
  language: Language,
  reply: FastifyReply,
): FastifyReply {
  const { isTestMode } = context;
  const page = messagePage({ ...language.words.messages.unknownLink, language, isTestMode });
  return sendPage({ context, reply }, 404, page);
}

const commonHeaders = {
  ...pageHeaders,
  // Providers that check the customer's referrer get the origin; the path, which opens the checkout, stays here.
  'referrer-policy': 'strict-origin',
  // Pages and events are streamed; proxies must not buffer them.
  'x-accel-buffering': 'no',
} as const;

/**
 * Where the forms of a page may lead. `form-action` applies in Chrome to every redirect that follows a form, and
 * providers redirect their customers to hosts that the service cannot know. So any secure host is allowed there, and
 * nothing else is. A page that itself comes over plain HTTP (only ever on loopback) may also send its forms over plain
 * HTTP.
 */
function formTargetsOf(baseUrl: string): string {
  return `'self' https:${baseUrl.startsWith('http:') ? ' http:' : ''}`;
}

interface PageReply {
  readonly context: { readonly baseUrl: string };
  readonly reply: FastifyReply;
}

/** Answers with a page and its headers. */
export function sendPage(
  { context: { baseUrl }, reply }: PageReply,
  status: number,
  page: Page,
): FastifyReply {
  const nonce = newNonce();
  reply
    .code(status)
    .headers(commonHeaders)
    .header('content-security-policy', contentSecurityPolicy(nonce, formTargetsOf(baseUrl)))
    .type('text/html; charset=utf-8');
  return sendCompressed(reply, page(nonce));
}

/** Sets the headers on an answer that is no page: a redirect, or the script's poll. */
export function setCommonHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers(commonHeaders).header('content-security-policy', noContentPolicy);
}
