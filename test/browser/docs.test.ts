import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { registerDocs } from '../../src/http/docs/register-docs.ts';
import { createPublicServer } from '../../src/http/server.ts';
import { launchBrowser } from '../support/browser.ts';

let browser: Browser;
let server: FastifyInstance;
let baseUrl: string;
let axeSource: string;

beforeAll(async () => {
  axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  browser = await launchBrowser();
  server = createPublicServer({ trustProxy: [] });
  registerDocs(server, {
    baseUrl: 'http://localhost',
    isSandbox: true,
    limiter: { take: () => 0 },
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  baseUrl = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

it.each([
  ['light', 1280],
  ['dark', 360],
] as const)('shows the documentation to everybody, %s and %i wide', async (colorScheme, width) => {
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  for (const path of ['/docs', '/docs/start', '/docs/payment-lifecycle', '/docs/reference']) {
    await page.goto(baseUrl + path);
    await page.evaluate(axeSource);
    const violations = await page.evaluate(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))',
    );
    expect(violations, path).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(width);
    await page.screenshot({
      path: `test-output/screenshots/docs${path.replaceAll('/', '-')}-${colorScheme}.png`,
    });
  }
  expect(problems).toEqual([]);
  await context.close();
});
