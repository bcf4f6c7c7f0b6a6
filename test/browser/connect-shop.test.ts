import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { takeScreenshot } from '../support/browser.ts';
import { type BrowserShop, useBrowserShop } from '../support/browser-shop.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { freePorts } from '../support/free-ports.ts';

const WALLET = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

let { browser, baseUrl: serviceUrl, giveCredentials } = {} as BrowserShop;
useBrowserShop((opened) => ({ browser, baseUrl: serviceUrl, giveCredentials } = opened), {
  host: 'localhost',
  role: 'developer',
});
let shop: Server;
let shopUrl: string;
/** What the browser brought back to the shop: the query and the referrer. */
let broughtBack: { readonly query: URLSearchParams; readonly referrer: string | undefined } | null = null;

beforeAll(async () => {
  const [shopPort] = await freePorts(1);
  shopUrl = `http://127.0.0.1:${shopPort}`;
  shop = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', shopUrl);
    if (pathname === '/connected') broughtBack = { query: searchParams, referrer: request.headers.referer };
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Shop</title><h1>Back in the shop</h1>');
  });
  await new Promise<void>((resolve) => shop.listen(shopPort, '127.0.0.1', resolve));
});
afterAll(async () => {
  shop?.closeAllConnections();
  await new Promise((resolve) => shop.close(resolve));
});

it('a real browser connects a shop, which then creates a checkout with its key', async () => {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('favicon')) complaints.push(message.text());
  });
  const verifier = randomBytes(32).toString('base64url');
  const asked = new URLSearchParams({
    name: 'Tea shop, WooCommerce',
    return: `${shopUrl}/connected?page=settings`,
    state: randomBytes(16).toString('base64url'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    scopes: 'create,read,refund',
  });
  await page.goto(`${serviceUrl}/connect?${asked}`);
  await giveCredentials(page);
  await page.getByRole('heading', { name: 'Connect a shop' }).waitFor();
  expect(await page.getByText(`A shop at ${new URL(shopUrl).host}`).count()).toBe(1);
  for (const [name, width, colorScheme] of [
    ['connect-desktop-light', 1280, 'light'],
    ['connect-phone-dark', 390, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await takeScreenshot(page, `${name}.png`);
  }
  await page.getByLabel('Your password').fill('not the password');
  await page.getByRole('button', { name: 'Connect the shop' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Connect the shop' }).click();
  await page.getByRole('heading', { name: 'Back in the shop' }).waitFor();

  expect(broughtBack?.query.get('state')).toBe(asked.get('state'));
  expect(broughtBack?.query.get('page')).toBe('settings');
  expect(broughtBack?.referrer ?? '').not.toContain('connect');
  const exchanged = await fetch(`${serviceUrl}/merchant/v1/connect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      code: broughtBack?.query.get('code'),
      code_verifier: verifier,
      return: asked.get('return'),
    }),
  });
  const { api_key: key } = (await exchanged.json()) as { readonly api_key: string };
  const created = await fetch(`${serviceUrl}/api/v1/wallet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({
      address: WALLET,
      callback: 'https://shop.example.com/hook',
      amount: '25.00',
      currency: 'USD',
      provider: 'multi',
    }),
  });
  expect(created.status).toBe(200);
  // The refused password answered 400, which browsers report.
  expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
});
