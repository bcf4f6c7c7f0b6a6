import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiDescription, createOpenApiDocument } from '../../api/openapi/create-openapi-document.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import { type CompressedForms, sendCompressed } from '../../web/compression.ts';
import { type Html, html } from '../../web/design/html.ts';
import { limitByAddress } from '../../web/rate-windows.ts';
import {
  type DocPage,
  docLayout,
  docPagesFor,
  docStyle,
  type Heading,
  listOfPages,
  REFERENCE_SLUG,
  wholeDocument,
} from './doc-pages.ts';
import type { Operation } from './reference-page.ts';
import { type StartLink, startContent } from './start-page.ts';

export interface DocsContext {
  readonly baseUrl: string;
  readonly description: ApiDescription;
  readonly isTestMode: boolean;
  /** Additional links on the start page (`/`); empty in live mode. */
  readonly links?: readonly StartLink[];
  /** Limits requests per IP address, because the pages are public. */
  readonly limiter: RateLimiter;
}

const PAGE = 'text/html; charset=utf-8';
const scriptFile = new URL('./client/docs.js', import.meta.url);
const searchFile = new URL('./client/search.js', import.meta.url);
/** URL of the project's root, the same for source and compiled files. */
const root = new URL('../../../', import.meta.url);

const headers = {
  // Forbids forms. Script, style and pictures are files of this server.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; " +
    "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'public, max-age=300',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** Icon of the dashboard. Browsers also request it for API responses. */
const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b5f4a"/>' +
    '<path d="M4 8.5l2.6 2.6L12 5.6" fill="none" stroke="#fff" stroke-width="2"/></svg>',
);

const loadRenderer = () => import('./render-markdown.ts');
const readDocument = (file: string) => readFileSync(new URL(file, root), 'utf8');

/** Policy that allows the pictures' own style for light and dark. */
const picturePolicy = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" } as const;

/** Registers the start page `/` and the documentation. Renders each page on its first request and caches it. */
export function registerDocs(server: FastifyInstance, context: DocsContext): void {
  const pages = docPagesFor(context);
  const images = new Set(readdirSync(new URL('docs/images/', root)));
  const made = new Map<string, readonly [Buffer, CompressedForms]>();
  const options = {
    onRequest: (request: FastifyRequest) => limitByAddress(context.limiter, request),
    exposeHeadRoute: true,
  };

  async function send(
    reply: FastifyReply,
    type: string,
    key: string,
    make: () => Buffer | Promise<Buffer>,
  ): Promise<FastifyReply> {
    const answer = made.get(key) ?? ([await make(), new Map()] as const);
    made.set(key, answer);
    return sendCompressed(
      reply.headers({ ...headers, ...(type === 'image/svg+xml' ? picturePolicy : {}), 'content-type': type }),
      ...answer,
    );
  }
  const serve = (path: string, type: string, make: () => Buffer | Promise<Buffer>) =>
    server.get(path, options, (_request, reply) => send(reply, type, path, make));
  const layout = (title: string, current: string | null, main: Html, outline: readonly Heading[] = []) =>
    docLayout({ ...context, pages, title, current, main, outline });

  let reference: ReturnType<typeof loadReference> | undefined;
  const openReference = () => (reference ??= loadReference(context));
  /** Renders an operation's page, or the list of all for null. Throws `not_found` for an unknown id. */
  async function renderReference(id: string | null): Promise<Buffer> {
    const { listOfOperations, operationContent, document, all } = await openReference();
    const one = all.find(({ operationId }) => operationId === id);
    if (one === undefined && id !== null) throw new ServiceError('not_found');
    const slugOf = (operationId: string) => `${REFERENCE_SLUG}/${operationId}`;
    return docLayout({
      ...context,
      pages,
      title: one?.summary ?? 'API reference',
      current: one === undefined ? REFERENCE_SLUG : slugOf(one.operationId),
      operations: all.map(({ operationId, summary }) => ({ slug: slugOf(operationId), title: summary })),
      main: one === undefined ? listOfOperations(all) : operationContent(document, one, context.baseUrl),
    });
  }

  // The first guide uses a sandbox on the reader's machine.
  const sampleBaseUrl = (slug: string) =>
    slug === 'start' && !context.isTestMode ? 'http://localhost:3000' : context.baseUrl;

  serve('/', PAGE, () => wholeDocument('Start', 'landing', startContent(context)));
  serve('/favicon.ico', 'image/svg+xml', () => icon);
  server.get('/docs/', options, (_request, reply) => reply.redirect('/docs', 308));
  serve('/docs', PAGE, () => layout('Documentation', null, listOfPages('Documentation', pages)));
  serve('/docs/style.css', 'text/css; charset=utf-8', () => docStyle);
  serve('/docs/script.js', 'text/javascript; charset=utf-8', () => readFileSync(scriptFile));
  serve('/docs/search.js', 'text/javascript; charset=utf-8', () => readFileSync(searchFile));
  serve('/docs/search.json', 'application/json; charset=utf-8', async () =>
    createSearchIndex(pages, (await openReference()).all),
  );
  serve('/llms.txt', 'text/plain; charset=utf-8', () => createLlmsText(context.baseUrl, pages));
  server.get<{ Params: { image: string } }>('/docs/images/:image', options, (request, reply) => {
    const { image } = request.params;
    if (!images.has(image)) throw new ServiceError('not_found');
    return send(reply, image.endsWith('.svg') ? 'image/svg+xml' : 'image/png', `images/${image}`, () =>
      readFileSync(new URL(`docs/images/${image}`, root)),
    );
  });
  serve(`/docs/${REFERENCE_SLUG}`, PAGE, () => renderReference(null));
  server.get<{ Params: { operation: string } }>('/docs/reference/:operation', options, (request, reply) => {
    const { operation } = request.params;
    return send(reply, PAGE, `/docs/reference/${operation}`, () => renderReference(operation));
  });
  server.get<{ Params: { page: string } }>('/docs/:page', options, (request, reply) => {
    const name = request.params.page;
    const page = pages.find(({ slug }) => name === slug || name === `${slug}.md`);
    if (page === undefined && request.headers.accept?.includes('text/html') === true)
      return send(reply.code(404), PAGE, '', () =>
        layout('Page not found', null, listOfPages('Page not found', pages)),
      );
    if (page === undefined) throw new ServiceError('not_found');
    const read = () => readDocument(page.file);
    if (name !== page.slug)
      return send(reply, 'text/markdown; charset=utf-8', name, () => Buffer.from(read()));
    return send(reply, PAGE, name, async () => {
      const { renderMarkdown } = await loadRenderer();
      const outline: Heading[] = [];
      const text = renderMarkdown({ page, pages, baseUrl: sampleBaseUrl(name) }, read(), outline);
      const markdownLink = html`<p class="small"><a href="/docs/${name}.md">This page as Markdown</a></p>`;
      return layout(page.title, name, html`${text}${markdownLink}`, outline);
    });
  });
}

async function loadReference({ baseUrl, description }: DocsContext) {
  const parts = await import('./reference-page.ts');
  const document = createOpenApiDocument(baseUrl, description);
  return { ...parts, document, all: parts.operationsOf(document) };
}

async function createSearchIndex(pages: readonly DocPage[], all: readonly Operation[]): Promise<Buffer> {
  const { sectionsOf } = await loadRenderer();
  const sections = pages.flatMap(({ slug: page, title, file, group }) =>
    sectionsOf(readDocument(file)).map((section) => ({ page, title, group, ...section })),
  );
  const operations = all.map(({ operationId, summary, method, path }) => ({
    page: `${REFERENCE_SLUG}/${operationId}`,
    title: 'API reference',
    group: 'Reference',
    heading: summary,
    anchor: operationId,
    text: `${method} ${path ?? 'your callback'}`,
    code: operationId,
  }));
  return Buffer.from(JSON.stringify([...sections, ...operations]));
}

/** Returns `/llms.txt`, the list of pages as Markdown in the format of llmstxt.org. */
function createLlmsText(baseUrl: string, pages: readonly DocPage[]): Buffer {
  const line = ({ slug, title, summary }: DocPage) => `- [${title}](${baseUrl}/docs/${slug}.md): ${summary}`;
  const merchants = pages.filter(({ group }) => group !== 'Operate');
  const operators = pages.filter(({ group }) => group === 'Operate');
  return Buffer.from(
    [
      '# card-checkout',
      '',
      '> Create hosted card checkouts over HTTP: the customer pays by card at an on-ramp, USDC on Polygon arrives in the',
      "> merchant's wallet, and one signed webhook says so.",
      '',
      'Send amounts as decimal strings. Send an Idempotency-Key with every create. Verify webhooks over the raw body with the',
      "payment's ipn_token, confirm with the status, fulfil once. API keys and ipn_tokens stay on the server.",
      '',
      '## Interface',
      '',
      `- [openapi.json](${baseUrl}/openapi.json): OpenAPI 3.1, every operation, answer and event`,
      '',
      '## Documentation',
      '',
      ...merchants.map(line),
      ...(operators.length === 0 ? [] : ['', '## Optional', '', ...operators.map(line)]),
      '',
    ].join('\n'),
  );
}
