import { type Html, html, navigationLink, nothing } from '../../web/design/html.ts';
import { pageStyleOf } from '../../web/design/page-style.ts';

const pagesByGroup = {
  'Get started': {
    start: ['Five-minute start', 'from a clone to a paid order and a verified webhook'],
    concepts: ['Concepts', 'the terms that every other page uses'],
    migrating: [
      'Coming from elsewhere',
      'Stripe, BTCPay Server, PayGate.to, Coinbase Commerce: what has another name',
    ],
  },
  Integrate: {
    api: ['The API by example', 'both operations with their parameters and responses'],
    sdk: ['SDK', 'the client for the server of a shop', 'sdk/README.md'],
    'sdk-python': ['SDK for Python', 'the same client without dependencies', 'sdk-python/README.md'],
    'merchant-api': ['The merchant API', 'events, lists, sums and cancellation for your own programs'],
    platforms: ['Checkouts for platforms', 'reference, metadata, line items and return addresses'],
    medusa: ['Medusa', 'a payment provider for shops on Medusa 2'],
    vendure: ['Vendure', 'a payment method for shops on Vendure 3'],
    'merchant-month': ['A month as a merchant', 'from the first event to a closed month'],
    agents: ['Agents', 'an MCP server with the scopes of a key'],
    embed: ['Inside the shop’s page', 'a checkout in a dialog over the shop'],
    connect: ['Connect a shop', 'an API key for a shop plugin in one click'],
    webhooks: ['Webhooks', 'the five obligations of a receiver, each with code'],
    examples: ['Examples', 'runnable shops in several languages', 'sdk/examples/README.md'],
    php: ['PHP', 'the library, and a shop that sells one thing'],
    'receiver-php': ['A receiver in PHP', 'webhooks and missed webhooks in a PHP shop'],
    'receiver-python': ['A receiver in Python', 'the same in Python'],
    receivers: ['Receivers in your language', 'Go, Ruby, Java, C#, AWS Lambda, NestJS, Koa, h3'],
    nextjs: ['A shop in Next.js', 'from an empty folder to a paid and fulfilled order'],
    dashboard: ['Dashboard', 'keys, people and payments, for merchants'],
    'payment-pages': ['Payment pages', 'one link for any number of payments, with stock and a question'],
    'direct-payments': ['Direct payments', 'USDC from a customer’s own wallet, without a card'],
    testing: ['Testing', 'what to test before the first real order'],
    sandbox: ['The sandbox', 'test cards, simulated on-ramps, and fault injection'],
  },
  Reference: {
    'payment-lifecycle': ['The life of a payment', 'every state and what leads to it'],
    errors: ['Errors', 'every error, and whether a retry helps'],
    limits: ['Limits', 'every limit, and what happens beyond it'],
    faq: ['Questions', 'frequent questions of merchants'],
    versioning: ['Versions', 'what may change, and how long in advance you are notified'],
  },
  Operate: {
    'going-live': ['Going live', 'the steps, and what to read first'],
    'first-live-payment': ['Your first live payment', 'what to see, in which order'],
    deploying: ['Deploying', 'containers, systemd, proxies, Kubernetes'],
    operating: ['Operating', 'metrics, alerts, and what to do about each'],
    troubleshooting: ['Troubleshooting', 'every message at start-up, and what to do'],
    configuration: ['Configuration', 'every environment variable'],
    signer: ['Keys in a signer', 'a relayer key that stays in a KMS or HSM, and secrets from files'],
    providers: ['Providers', 'which on-ramps there are, and what each needs'],
    'command-line': ['Command line', 'every command'],
    scaling: ['Scaling', 'several instances, and what grows with what'],
    reliability: ['Reliability', 'the guarantees, and the evidence for each'],
    'threat-model': ['Threat model', 'what each attacker can and cannot do'],
  },
} satisfies Record<string, Record<string, readonly [title: string, summary: string, file?: string]>>;

type DocGroup = keyof typeof pagesByGroup;
const groups = Object.keys(pagesByGroup) as readonly DocGroup[];

const docPages = groups.flatMap((group) =>
  Object.entries(pagesByGroup[group]).map(([slug, [title, summary, file = `docs/${slug}.md`]]) => ({
    slug,
    group,
    title,
    summary,
    file,
  })),
);

export type DocPage = Readonly<(typeof docPages)[number]>;

export const REFERENCE_SLUG = 'reference';

/** Returns the pages for merchants and, in the sandbox, also those for operators. */
export function docPagesFor({ isTestMode }: { readonly isTestMode: boolean }): readonly DocPage[] {
  return isTestMode ? docPages : docPages.filter(({ group }) => group !== 'Operate');
}

/** Style of the documentation. It is a separate file, so that pages need no nonce and are fully cacheable. */
export const docStyle = Buffer.from(
  pageStyleOf(
    ['table', 'data-table', 'card', 'badge', 'button', 'button-kinds', 'tones'],
    new URL('../../web/signed-in/skip.css', import.meta.url),
    new URL('./docs.css', import.meta.url),
    new URL('./start.css', import.meta.url),
  ).toString(),
);

export interface Heading {
  readonly id: string;
  readonly text: string;
}

interface DocPageParts {
  readonly title: string;
  /** Slug of the page marked in the navigation. */
  readonly current: string | null;
  readonly pages: readonly DocPage[];
  readonly isTestMode: boolean;
  readonly main: Html;
  readonly outline?: readonly Heading[];
  readonly operations?: readonly NavigationPage[];
}

type NavigationPage = Readonly<Record<'slug' | 'title', string>>;

export function wholeDocument(title: string, style: 'docs' | 'landing', body: Html): Buffer {
  const page = html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · card-checkout</title>
<link rel="stylesheet" href="/docs/style.css">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<script src="/docs/script.js" defer></script>
</head>
<body class="${style}">
<a class="skip" href="#content">Skip to the text</a>
${body}
</body>
</html>
`;
  return Buffer.from(page.toString());
}

export function docLayout(parts: DocPageParts): Buffer {
  const { title, isTestMode, main, outline = [] } = parts;
  return wholeDocument(
    title,
    'docs',
    html`<header>
<a class="home" href="/docs">card-checkout</a>
${isTestMode ? html`<span class="badge warn">sandbox</span>` : nothing}
<search hidden><label class="small soft" for="docs-search">Search</label><input id="docs-search" type="search" autocomplete="off" placeholder="/ or Ctrl-K">
<ul id="docs-found" class="card" aria-live="polite"></ul></search>
</header>
<nav aria-label="Documentation">
${groups.map((group) => groupLinks(group, parts))}
</nav>
<main id="content">
${outline.length > 2 ? outlineOf(outline) : nothing}<article class="prose">
${main}
</article>
</main>`,
  );
}

function outlineOf(headings: readonly Heading[]): Html {
  return html`<details class="outline" open><summary>On this page</summary><ul>
${headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></details>
`;
}

function groupLinks(group: DocGroup, { pages, current, operations = [] }: DocPageParts): Html {
  const own = pages.filter((page) => page.group === group);
  if (own.length === 0) return nothing;
  const reference = { slug: REFERENCE_SLUG, title: 'API reference' };
  const links = group === 'Reference' ? [reference, ...operations, ...own] : own;
  return html`<section><h2 class="small soft">${group}</h2><ul>
${links.map(({ slug, title }) => navigationLink(`/docs/${slug}`, title, slug === current))}
</ul></section>
`;
}

const introductions = {
  Documentation:
    'Create hosted card checkouts; the customer pays at an on-ramp, and USDC arrives in your wallet.',
  'Page not found': 'There is no such page in the documentation. These pages exist:',
} as const;

export function listOfPages(title: keyof typeof introductions, pages: readonly DocPage[]): Html {
  return html`<h1>${title}</h1>
<p>${introductions[title]}</p>
${groups.map((group) => {
  const own = pages.filter((page) => page.group === group);
  return own.length === 0
    ? nothing
    : html`<h2>${group}</h2>
<ul>
${own.map(({ slug, title, summary }) => html`<li><a href="/docs/${slug}">${title}</a>: ${summary}</li>`)}
</ul>
`;
})}
<h2>For programs</h2>
<ul>
<li><a href="/openapi.json">openapi.json</a>: the interface as OpenAPI 3.1, <a href="/openapi-3.0.json">as 3.0</a>,
and as <a href="/docs/${REFERENCE_SLUG}">a page</a></li>
<li><a href="/llms.txt">llms.txt</a>: this list for language models, with every page as Markdown</li>
</ul>
`;
}
