import type { FastifyInstance } from 'fastify';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startShop } from '../../sandbox/shop/start-shop.ts';
import { apiDescription } from '../../src/app/features.ts';
import { docPagesFor } from '../../src/pages/docs/doc-pages.ts';
import { registerDocs } from '../../src/pages/docs/register-docs.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { createApiService, validRequest } from '../support/api-service.ts';
import { launchBrowser } from '../support/browser.ts';
import { createCheckoutPages } from '../support/checkout-pages.ts';
import { statelessControlsOf, violationsOf } from '../support/page-checks.ts';

let browser: Browser;
let server: FastifyInstance;
let baseUrl: string;

beforeAll(async () => {
  browser = await launchBrowser();
  server = createBaseServer({ trustProxy: [] });
  registerDocs(server, {
    baseUrl: 'http://localhost',
    description: apiDescription,
    isTestMode: true,
    limiter: { take: async () => 0 },
  });
  baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

type View = readonly [colorScheme: 'light' | 'dark', width: number];
const views: readonly View[] = [
  ['dark', 360],
  ['light', 1280],
];

/**
 * Opens each page once and returns what is wrong with it in every view: for axe, for the console, for the width. Nothing of
 * these pages depends on the view in which they were loaded.
 */
async function faultsOf(origin: string, paths: readonly string[]): Promise<readonly string[]> {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  for (const path of paths) {
    await page.goto(origin + path);
    for (const [colorScheme, width] of views) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      const violations = await violationsOf(page);
      faults.push(...violations.map((violation) => `${path} in ${colorScheme}: ${violation}`));
      for (const size of ['200%', '100%']) {
        await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
        const pageWidth = Number(await page.evaluate('document.documentElement.scrollWidth'));
        if (pageWidth > width) faults.push(`${path} is ${pageWidth} wide of ${width} with text at ${size}`);
      }
    }
    faults.push(...(await touchingParts(page)).map((text) => `${path} sets too close: ${text}`));
  }
  await page.close();
  return faults;
}

/** Paragraphs, tables and examples of a documentation page with less than 8 pixels above them. */
async function touchingParts(page: Page): Promise<readonly string[]> {
  await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
  return page.evaluate(`[...document.querySelectorAll('.prose :is(p, pre, table, ul, ol, dl, details)')]
    .map((each) => each.closest('.table, .copyable') ?? each)
    .filter((each) => each.closest('li, td, th') === null && each.previousElementSibling !== null)
    .filter((each) => each.getBoundingClientRect().top - each.previousElementSibling.getBoundingClientRect().bottom < 8)
    .map((each) => each.textContent.trim().slice(0, 60))`);
}

const docPaths = [
  '/docs',
  '/',
  '/docs/reference',
  '/docs/reference/createCheckout',
  ...docPagesFor({ isTestMode: true }).map(({ slug }) => `/docs/${slug}`),
];

// In parts, each far from the time limit of a test on a slow machine.
it.each([0, 1, 2, 3])(
  'shows every page of the documentation to everybody: dark and narrow, light and wide, with its parts apart (%i of 4)',
  async (part) => {
    const paths = docPaths.filter((_, index) => index % 4 === part);
    expect(await faultsOf(baseUrl, paths)).toEqual([]);
  },
);

it('shows the checkout of the sandbox on the phone of the start page: as customers see it, inert, and without script', async () => {
  const { server: sandbox } = createCheckoutPages({ isTestMode: true });
  const phone = '/sandbox/pages/choose?framed';
  const links = [{ href: '/sandbox/pages', title: 'Every state', summary: 'To look at', phone }];
  const limiter = { take: async () => 0 };
  const docs = { baseUrl: 'http://localhost', description: apiDescription, isTestMode: true, limiter };
  registerDocs(sandbox, { ...docs, links });
  const origin = await sandbox.listen({ host: '127.0.0.1', port: 0 });
  const plain = await browser.newPage({ javaScriptEnabled: false });
  await plain.goto(origin);
  const question = { name: 'How would you like to pay?' };
  await plain.frameLocator('.phone iframe').getByRole('heading', question).waitFor();
  await plain.close();
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  await page.goto(origin);
  const frame = page.locator('.phone iframe');
  await frame.contentFrame().getByRole('heading', question).waitFor();
  expect(await frame.getAttribute('loading')).toBe('lazy');
  const box = (await frame.boundingBox()) ?? { x: 0, y: 0, height: 0 };
  await page.mouse.click(box.x + 100, box.y + 300);
  for (let presses = 0; presses < 20; presses++) await page.keyboard.press('Tab');
  expect(await page.evaluate("document.activeElement.matches('iframe')")).toBe(false);
  expect(await violationsOf(page)).toEqual([]);
  expect(faults).toEqual([]);
  const policyOf = async (url: string) => (await sandbox.inject(url)).headers['content-security-policy'];
  expect(await policyOf(phone)).toContain("frame-ancestors 'self'; sandbox");
  expect(await policyOf('/sandbox/pages/choose')).toContain("frame-ancestors 'none'");
  await page.close();
  await sandbox.close();
});

it('finds sections by words, copies examples, and lists the headings of a page', async () => {
  const context = await browser.newContext();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
  const page = await context.newPage();
  await page.goto(`${baseUrl}/docs/webhooks`);
  const copy = page.getByRole('button', { name: 'Copy' }).first();
  await copy.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^POST \/webhook HTTP\/1\.1/);
  expect(await coveredLines(page)).toEqual([]);
  expect(await statelessControlsOf(page, new Set())).toEqual([]);
  await page.locator('.outline a', { hasText: 'Delivery' }).click();
  expect(page.url()).toContain('#delivery');
  await page.locator('.outline [aria-current]', { hasText: 'Delivery' }).waitFor();
  const field = page.getByRole('searchbox', { name: 'Search' });
  await field.fill('zzz qqq');
  await page.getByText('Nothing found.').waitFor();
  await field.fill('close month');
  await page.locator('#docs-found a', { hasText: 'Close a month' }).click();
  await page.waitForURL('**/docs/merchant-api#close-a-month');
  await page.getByRole('searchbox').fill('clock');
  await page.locator('#docs-found a').first().waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.getByRole('searchbox').press('Escape');
  expect(await page.locator('#docs-found li').count()).toBe(0);
  await context.close();
});

/** Code blocks covered by their own button. */
const coveredLines = (page: Page): Promise<readonly string[]> =>
  page.evaluate(`[...document.querySelectorAll('.copyable')].filter((frame) =>
    frame.querySelector('button').getBoundingClientRect().bottom > frame.querySelector('pre').getBoundingClientRect().top)
    .map((frame) => frame.textContent.slice(0, 40))`);

it('is searched and read by the keyboard alone: /, Ctrl-K, arrows and Enter', async () => {
  const page = await browser.newPage();
  await page.goto(`${baseUrl}/docs/concepts`);
  await page.keyboard.press('/');
  await page.keyboard.type('close month');
  await page.locator('#docs-found a').nth(1).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  expect(
    await page.evaluate('document.activeElement === document.querySelectorAll("#docs-found a")[1]'),
  ).toBe(true);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/merchant-month#6-close-the-month');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('refund/');
  expect(await page.getByRole('searchbox').inputValue()).toBe('refund/');
  await page.locator('#docs-found a').first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => !url.href.includes('close-the-month'));
  await page.close();
});

it('lists the sections of a page without script, and copies the command of the start page with it', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const page = await plain.newPage();
  await page.goto(`${baseUrl}/docs/webhooks`);
  expect(await page.locator('.outline a').allTextContents()).toContain('Delivery');
  await plain.close();
  const context = await browser.newContext();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
  const start = await context.newPage();
  await start.goto(baseUrl);
  await start.getByRole('button', { name: 'Copy' }).click();
  await start.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await start.evaluate('navigator.clipboard.readText()')).toMatch(
    /^curl http:\/\/localhost\/api\/v1\/wallet/,
  );
  await context.close();
});

it('keeps the chosen language on other pages, and copies a sample with its lines', async () => {
  const context = await browser.newContext();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
  const page = await context.newPage();
  await page.goto(`${baseUrl}/docs/api`);
  const samples = page.locator('.samples').first();
  await samples.locator('summary', { hasText: 'Python' }).click();
  await samples.locator('[open]').getByRole('button', { name: 'Copy' }).click();
  await samples.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
    /^import os\n\nfrom card_checkout import Client\n/,
  );
  await page.goto(`${baseUrl}/docs/merchant-api`);
  expect(await page.locator('.sample[open] > summary').allTextContents()).toEqual(Array(3).fill('Python'));
  await context.close();
});

it('shows the shop of the sandbox to everybody', async () => {
  const api = await createApiService();
  const shop = await startShop({
    account: {
      apiUrl: await api.server.listen({ host: '127.0.0.1', port: 0 }),
      apiKey: api.apiKey,
      payoutWallet: validRequest.address,
    },
    ipnTokenOf: () => null,
    nowMs: Date.now,
    ports: { shop: 0, receiver: 0 },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  try {
    const page = await browser.newPage();
    await page.goto(shop.url);
    await page.getByRole('button', { name: 'Buy A desk lamp' }).click();
    await page.locator('#steps > li').first().waitFor();
    const path = new URL(page.url()).pathname;
    expect(await faultsOf(shop.url, ['/', path, '/webhooks'])).toEqual([]);
    await page.close();
  } finally {
    await shop.stop();
    await api.close();
  }
});
