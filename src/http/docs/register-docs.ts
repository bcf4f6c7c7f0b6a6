import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { RateLimiter } from '../../domain/ports/rate-limiter.ts';
import { countVisitor } from '../checkout/page-limits.ts';
import { type ConstantAnswer, createConstantAnswer } from '../compression.ts';
import { createOpenApiDocument } from '../openapi/create-openapi-document.ts';
import {
  type DocPage,
  docLayout,
  docPagesFor,
  docStyle,
  indexContent,
  REFERENCE_SLUG,
  type StartLink,
  startContent,
} from './doc-pages.ts';
import { referenceContent } from './reference-page.ts';
import { renderMarkdown } from './render-markdown.ts';

export interface DocsContext {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** In the sandbox the reader is an operator too. */
  readonly isTestMode: boolean;
  /** Further links of `/`; empty in live mode. */
  readonly links?: readonly StartLink[];
  /** One limiter by address; the pages are public. */
  readonly limiter: RateLimiter;
}

/** The project's root, also from the compiled form. */
const root = new URL('../../../', import.meta.url);

const headers = {
  // No script runs and no form is sent; style and pictures are files of this server.
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'public, max-age=300',
  'cross-origin-opener-policy': 'same-origin',
} as const;

/** The dashboard's icon. Browsers request it if a page names no icon, such as on answers of the API. */
const icon = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#0b5f4a"/>' +
    '<path d="M4 8.5l2.6 2.6L12 5.6" fill="none" stroke="#fff" stroke-width="2"/></svg>',
);

/** A picture brings its own style, for light and dark. */
const picturePolicy = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" } as const;

/**
 * The start page `/`, and the documentation, rendered from the project's own Markdown: `/docs` with its pages, each
 * also as `.md`, and `/llms.txt`. Each page is rendered at its first request, and kept with its compressed forms: their
 * number is that of the files.
 */
export function registerDocs(server: FastifyInstance, context: DocsContext): void {
  const pages = docPagesFor(context);
  const images = new Set(readdirSync(new URL('docs/images/', root)).filter((name) => name.endsWith('.svg')));
  const made = new Map<string, ConstantAnswer>();
  const options = {
    onRequest: (request: FastifyRequest) => countVisitor(context.limiter, request),
    exposeHeadRoute: true,
  };

  function send(reply: FastifyReply, type: string, key: string, make: () => Buffer): Promise<FastifyReply> {
    const answer = made.get(key) ?? createConstantAnswer(make());
    made.set(key, answer);
    return answer.send(
      reply.headers({ ...headers, ...(type === 'image/svg+xml' ? picturePolicy : {}), 'content-type': type }),
    );
  }
  const sendPage = (reply: FastifyReply, key: string, make: () => Buffer) =>
    send(reply, 'text/html; charset=utf-8', key, make);

  server.get('/', options, (_request, reply) =>
    sendPage(reply, '/', () => {
      const main = startContent({ isTestMode: context.isTestMode, links: context.links ?? [] });
      return docLayout({ ...context, pages, title: 'Start', current: null, main });
    }),
  );
  server.get('/favicon.ico', options, (_request, reply) =>
    send(reply, 'image/svg+xml', 'favicon.ico', () => icon),
  );
  server.get('/docs/', options, (_request, reply) => reply.redirect('/docs', 308));
  server.get('/docs', options, (_request, reply) =>
    sendPage(reply, '', () =>
      docLayout({ ...context, pages, title: 'Documentation', current: null, main: indexContent(pages) }),
    ),
  );
  server.get('/docs/style.css', options, (_request, reply) =>
    send(reply, 'text/css; charset=utf-8', 'style.css', () => docStyle),
  );
  server.get<{ Params: { image: string } }>('/docs/images/:image', options, (request, reply) => {
    const { image } = request.params;
    if (!images.has(image)) throw new ServiceError('not_found');
    return send(reply, 'image/svg+xml', `images/${image}`, () =>
      readFileSync(new URL(`docs/images/${image}`, root)),
    );
  });
  server.get<{ Params: { page: string } }>('/docs/:page', options, (request, reply) => {
    const name = request.params.page;
    if (name === REFERENCE_SLUG) return sendPage(reply, name, () => referencePage(context, pages));
    const page = pages.find(({ slug }) => name === slug || name === `${slug}.md`);
    if (page === undefined) throw new ServiceError('not_found');
    return name === page.slug
      ? sendPage(reply, name, () => markdownPage(context, pages, page))
      : send(reply, 'text/markdown; charset=utf-8', name, () => readFileSync(new URL(page.file, root)));
  });
  server.get('/llms.txt', options, (_request, reply) =>
    send(reply, 'text/plain; charset=utf-8', 'llms.txt', () => createLlmsText(context.baseUrl, pages)),
  );
}

function markdownPage(context: DocsContext, pages: readonly DocPage[], page: DocPage): Buffer {
  const text = readFileSync(new URL(page.file, root), 'utf8');
  const main = renderMarkdown({ page, pages }, text);
  return docLayout({ ...context, pages, title: page.title, current: page.slug, main });
}

function referencePage(context: DocsContext, pages: readonly DocPage[]): Buffer {
  const main = referenceContent(createOpenApiDocument(context.baseUrl));
  return docLayout({ ...context, pages, title: 'API reference', current: REFERENCE_SLUG, main });
}

/** `/llms.txt`, in the form of llmstxt.org: the list of pages, as Markdown. */
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
