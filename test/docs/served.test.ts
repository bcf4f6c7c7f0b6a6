import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerOpenApi } from '../../src/api/openapi/create-openapi-document.ts';
import { apiDescription } from '../../src/app/features.ts';
import { docPagesFor } from '../../src/pages/docs/doc-pages.ts';
import { registerDocs } from '../../src/pages/docs/register-docs.ts';
import { renderMarkdown } from '../../src/pages/docs/render-markdown.ts';
import { createFixedWindowLimiter } from '../../src/web/rate-windows.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { read } from './markdown.ts';

function createServer(isTestMode: boolean): FastifyInstance {
  const server = createBaseServer({ trustProxy: ['127.0.0.1'] });
  registerOpenApi(server, { baseUrl: 'https://pay.example.com' }, apiDescription);
  const limiter = createFixedWindowLimiter(120, () => performance.now());
  const links = isTestMode ? [{ href: 'http://127.0.0.1:9/', title: 'Shop', summary: 'to try' }] : [];
  const description = apiDescription;
  registerDocs(server, { baseUrl: 'https://pay.example.com', description, isTestMode, links, limiter });
  return server;
}

const modes = { sandbox: createServer(true), live: createServer(false) };
beforeAll(() => Promise.all(Object.values(modes).map((server) => server.ready())));
afterAll(() => Promise.all(Object.values(modes).map((server) => server.close())));

async function get(server: FastifyInstance, url: string) {
  return server.inject({ method: 'GET', url });
}

/** Opens the documentation and follows each link and picture of this server; what was found, by address. */
async function walk(server: FastifyInstance): Promise<ReadonlyMap<string, string>> {
  const seen = new Map<string, string>();
  const queue = ['/docs'];
  for (let url = queue.pop(); url !== undefined; url = queue.pop()) {
    if (seen.has(url)) continue;
    const response = await get(server, url);
    expect(response.statusCode, url).toBe(200);
    seen.set(url, response.body);
    if (!String(response.headers['content-type']).startsWith('text/html')) continue;
    const targets = [...response.body.matchAll(/(?:href|src)="(\/[^"#]*)/g)].map(
      ([, target]) => target ?? '',
    );
    queue.push(...targets);
  }
  return seen;
}

describe.each(Object.entries(modes))('the documentation in %s mode', (mode, server) => {
  it('has no link that leads nowhere, within and between its pages', async () => {
    const pages = await walk(server);
    expect(pages.size).toBeGreaterThan(mode === 'live' ? 14 : 20);
    for (const [url, body] of pages) {
      for (const [, path, anchor] of body.matchAll(/href="(\/docs\/[\w-]*)?#([^"]+)"/g))
        expect(pages.get(path ?? url), `${url} links to ${path}#${anchor}`).toContain(`id="${anchor}"`);
    }
  });

  it('loads nothing from elsewhere, and runs nothing but its own script', async () => {
    for (const [url, body] of await walk(server)) {
      // Markdown is text to browsers, and may show a shop's script.
      if (url === '/docs/script.js' || url.endsWith('.md')) continue;
      expect(body.replace('<script src="/docs/script.js" defer></script>', ''), url).not.toMatch(
        /<script|<iframe|\son\w+="|javascript:|src="(?:https?:)?\/\//,
      );
      expect(body, url).not.toMatch(/<link[^>]+href="https?:/);
    }
    const { headers } = await get(server, '/docs/start');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:;/,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('public, max-age=300');
  });
});

describe('the addresses that people and browsers try', () => {
  it.each([
    ['sandbox', ['/dashboard', 'http://127.0.0.1:9/']],
    ['live', ['/dashboard', '/docs', '/docs/reference', '/docs/payment-lifecycle']],
  ] as const)('/ in %s mode is a page that leads on', async (mode, expected) => {
    const { statusCode, headers, body } = await get(modes[mode], '/');
    expect({ statusCode, type: headers['content-type'] }).toEqual({
      statusCode: 200,
      type: 'text/html; charset=utf-8',
    });
    for (const href of expected) expect(body).toContain(`<li><a href="${href}" class="card">`);
    for (const words of ['Not proven in production', 'curl https://pay.example.com/api/v1/wallet \\\n  -H'])
      expect(body).toContain(words);
    expect(body.includes('Nothing here is real money')).toBe(mode === 'sandbox');
    expect(body.includes('open the complete link that the shop gave you')).toBe(mode === 'live');
  });

  it('/docs/ is /docs, and /favicon.ico is a picture', async () => {
    const { statusCode, headers } = await get(modes.live, '/docs/');
    expect([statusCode, headers.location]).toEqual([308, '/docs']);
    const icon = await get(modes.live, '/favicon.ico');
    expect([icon.statusCode, icon.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(icon.body).toMatch(/^<svg /);
  });
});

it('is about merchants alone in live mode', async () => {
  for (const { slug, group } of docPagesFor({ isTestMode: true })) {
    const { statusCode } = await get(modes.live, `/docs/${slug}`);
    expect(statusCode, slug).toBe(group === 'Operate' ? 404 : 200);
  }
  expect((await get(modes.live, '/llms.txt')).body).not.toContain('threat-model');
});

it('lists the sections of every page for the search, each at an anchor that the page has', async () => {
  for (const server of Object.values(modes)) {
    const sections = (await get(server, '/docs/search.json')).json() as Record<string, string>[];
    const slugs = new Set(sections.map(({ page = '' }) => page));
    const isTestMode = server === modes.sandbox;
    const operations = apiDescription.operations.map(({ id }) => `reference/${id}`);
    expect([...slugs]).toEqual(expect.arrayContaining(operations));
    const others = [...slugs].filter((slug) => !slug.startsWith('reference/'));
    expect(others).toEqual(docPagesFor({ isTestMode }).map(({ slug }) => slug));
    for (const { page = '', anchor = '', heading = '' } of sections) {
      expect(heading, page).not.toBe('');
      expect((await get(server, `/docs/${page}`)).body, page).toContain(`id="${anchor}"`);
    }
    expect(sections.map(({ text }) => text).join(' ')).not.toMatch(/\*\*|\]\(|<!--|\|\s*-{3}/);
  }
});

it('gives every page as Markdown too, and names them in llms.txt', async () => {
  const { body } = await get(modes.sandbox, '/llms.txt');
  for (const { slug, file } of docPagesFor({ isTestMode: true })) {
    expect(body).toContain(`https://pay.example.com/docs/${slug}.md`);
    expect((await get(modes.sandbox, `/docs/${slug}.md`)).body).toBe(read(file));
  }
  expect(body).toMatch(/^# card-checkout\n\n> /);
});

it('has a page for every operation with all its answers, an own address and the objects that it names', async () => {
  const list = (await get(modes.live, '/docs/reference')).body;
  for (const { id, path, errors } of apiDescription.operations) {
    expect(list).toContain(`href="/docs/reference/${id}"`);
    const { body } = await get(modes.live, `/docs/reference/${id}`);
    expect(body).toContain(`aria-current="page">`);
    expect(body).toContain(`curl`);
    expect(body).toContain(`https://pay.example.com${path.replace(/\{.*/, '')}`);
    for (const { status } of errors) expect(body, id).toContain(`<code>${status}</code>`);
    expect(errors.length).toBeGreaterThan(0);
    for (const [, object] of body.matchAll(/href="#(object-\w+)"/g)) expect(body).toContain(`id="${object}"`);
    expect(body).not.toContain('https://pay.example/');
  }
  const created = (await get(modes.live, '/docs/reference/createCheckout')).body;
  for (const words of ['Retry later or use', '/pay/01a1fbd7']) expect(created).toContain(words);
  expect((await get(modes.live, '/docs/reference/paymentForwarded')).body).toContain('payment.forwarded');
});

it('escapes what stands in a document, and leaves raw HTML out', () => {
  const text =
    '# <b>x</b>\n\n<script>1</script>\n\n`<i>` & "q" [a](javascript:1) [b](https://x.test/?a="b")\n\n```sh\n<pre>\n```\n';
  const markup = renderMarkdown({ page: { file: 'docs/x.md' }, pages: [] }, text).toString();
  expect(markup).not.toMatch(/<script|<b>|<i>|javascript:/);
  for (const words of ['&lt;i&gt;', '&#60;pre&#62;']) expect(markup).toContain(words);
});

it('answers 404 for a page or picture that there is not, also by detours', async () => {
  for (const url of [
    '/docs/nothing',
    '/docs/reference/nothing',
    '/docs/images/nothing.svg',
    '/docs/images/..%2fapi.md',
    '/docs/..%2f..%2fpackage.json',
    '/docs/__proto__',
  ]) {
    expect((await get(modes.sandbox, url)).statusCode, url).toBe(404);
  }
});

it('bounds what one address may ask in a minute', async () => {
  const ask = () =>
    modes.live.inject({ method: 'GET', url: '/docs', headers: { 'x-forwarded-for': '203.0.113.9' } });
  for (let index = 0; index < 120; index++) expect((await ask()).statusCode).toBe(200);
  expect((await ask()).statusCode).toBe(429);
});
