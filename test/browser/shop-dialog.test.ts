import type { AddressInfo } from 'node:net';
import { type FastifyInstance, fastify } from 'fastify';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import { desktop, launchBrowser, phone } from '../support/browser.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  pagePayment,
  pageView,
} from '../support/checkout-pages.ts';
import { violationsOf } from '../support/page-checks.ts';

let browser: Browser;
let shop: FastifyInstance;
let pages: CheckoutPages;
let baseUrl: string;
/** Another site than the service, so that the frame has no cookies. */
let shopUrl: string;

beforeAll(async () => {
  browser = await launchBrowser();
  shop = fastify();
  const html = (body: string) => `<!doctype html><html lang="en"><title>Shop</title><main>${body}</main>`;
  shop.get<{ Querystring: { pay: string } }>('/', ({ query }, reply) =>
    reply.type('text/html').send(
      html(`<a href="${query.pay}" data-card-checkout>Pay</a><script>
const told = [], heard = [];
addEventListener('message', ({ data, origin }) => heard.push([origin, data]));
document.addEventListener('card-checkout', ({ detail }) => told.push(detail));</script>
<script src="${baseUrl}/checkout.js" data-close="Close the checkout"></script>`),
    ),
  );
  shop.get('/forge', (_, reply) =>
    reply
      .type('text/html')
      .send(`<script>for (const state of ['paid', 'closed']) parent.postMessage(state, '*')</script>`),
  );
  for (const path of ['/visit', '/thanks'])
    shop.get(path, (_, reply) => reply.type('text/html').header('x-frame-options', 'DENY').send(html(path)));
  await shop.listen({ host: '127.0.0.1', port: 0 });
  const { port } = shop.server.address() as AddressInfo;
  shopUrl = `http://localhost:${port}`;
  const account = { returnHosts: ['other.example', `localhost:${port}`], returnUrl: `${shopUrl}/thanks` };
  pages = createCheckoutPages({ account, redirectUrl: `http://127.0.0.1:${port}/visit` });
  baseUrl = await pages.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await browser?.close();
  await pages?.server.close();
  await shop?.close();
});

interface ShopOptions extends BrowserContextOptions {
  readonly at?: string;
  /** Script that runs first in the shop's page and in the frame. */
  readonly before?: string;
}

/** Clicks the shop's link to a checkout. */
async function atShop(
  path: string,
  use: (page: Page, context: BrowserContext, said: readonly string[]) => Promise<unknown>,
  { at = shopUrl, before = '', ...options }: ShopOptions = {},
): Promise<void> {
  const context = await browser.newContext({ ...desktop, reducedMotion: 'reduce', ...options });
  try {
    await context.addInitScript(before);
    const page = await context.newPage();
    const said: string[] = [];
    page.on('console', (message) => said.push(message.text()));
    await page.goto(`${at}/?pay=${encodeURIComponent(baseUrl + path)}`);
    await page.getByRole('link', { name: 'Pay' }).click();
    await use(page, context, said);
  } finally {
    await context.close();
  }
}

const frameOf = (page: Page) => page.frameLocator('dialog iframe');
const toldTo = (page: Page) => page.evaluate<string[]>('told');
const pathOf = (id: string) => `/pay/${id}`;
const newCheckout = () => pages.put(checkoutStates.choose());
const become = (id: string, view: PaymentView) =>
  pages.put({ ...view, payment: { ...view.payment, id, email: 'jane@example.com' } });

it('is paid in the dialog, with a window for the provider, without cookies, and tells the shop states only', async () => {
  const id = pages.put(pageView(pagePayment({ email: 'jane@example.com' })));
  await atShop(`${pathOf(id)}?email=jane%40example.com&lang=de&auto=1`, async (page, context) => {
    const frame = frameOf(page);
    const { host } = new URL(shopUrl);
    await frame.locator('.shop', { hasText: `Café Tortuga · ${host}` }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // A page that the frame loads by a link has neither address nor cookie of the first one.
    await frame.getByRole('link', { name: 'Ändern' }).first().click();
    const opened = page.waitForEvent('popup');
    await frame.locator('#change button.way').first().click();
    const provider = await opened;
    await provider.waitForURL('**/visit');
    expect([pages.emails.at(-1), await context.cookies(baseUrl + pathOf(id))]).toEqual([
      'jane@example.com',
      expect.not.arrayContaining([expect.objectContaining({ name: 'email_token' })]),
    ]);
    await provider.goto(`${baseUrl}${pathOf(id)}?returned=1`);
    expect(await provider.getAttribute('html', 'lang')).toBe('de');
    become(id, checkoutStates['taken-by-provider']());
    await frame.locator('.timeline').waitFor();
    become(id, checkoutStates.paid());
    await frame.locator('.summary.paid').waitFor();
    expect(await frame.locator('#automatic').isVisible()).toBe(false);
    await frame.locator('h1').press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Pay');
    expect(await toldTo(page)).toEqual(['open', 'pending', 'paid', 'closed']);
    const heard = await page.evaluate<[string, unknown][]>('heard');
    const states = heard.filter(([origin]) => origin === baseUrl).map(([, data]) => data);
    expect([...new Set(states)]).toEqual(['open', 'pending', 'paid', 'closed']);
  });
});

it('is closed by its button and by Escape, and leads back to the shop outside of the frame', async () => {
  const id = newCheckout();
  await atShop(pathOf(id), async (page) => {
    await frameOf(page).locator('#checkout').waitFor();
    await page.getByRole('button', { name: 'Close the checkout' }).click();
    await page.getByRole('link', { name: 'Pay' }).click();
    await page.getByRole('button', { name: 'Close the checkout' }).press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    become(id, checkoutStates.canceled());
    await page.getByRole('link', { name: 'Pay' }).click();
    await frameOf(page)
      .getByRole('link', { name: /^Back to/ })
      .click();
    await page.waitForURL(`${shopUrl}/thanks`);
  });
});

it('is not shown in the page of a host that the owner did not save, where the link opens', async () => {
  const id = newCheckout();
  const at = shopUrl.replace('localhost', '127.0.0.1');
  await atShop(
    pathOf(id),
    async (page, _, said) => {
      await page.waitForURL(baseUrl + pathOf(id));
      expect(said).toEqual([expect.stringContaining(`"frame-ancestors https://other.example ${shopUrl}"`)]);
    },
    { at },
  );
});

it('takes no state from the shop, from another frame of the service, or from another site in its own frame', async () => {
  await atShop(pathOf(newCheckout()), async (page) => {
    await frameOf(page).locator('#checkout').waitFor();
    const other = JSON.stringify(`${baseUrl}${pathOf(pages.put(checkoutStates.paid()))}`);
    await page.evaluate(`postMessage('paid', '*');
      document.body.append(Object.assign(document.createElement('iframe'), { src: ${other} }));
      document.querySelector('dialog iframe').src = '/forge';`);
    await page.waitForFunction('heard.filter(([, state]) => state === "paid").length === 3');
    expect(await toldTo(page)).toEqual(['open']);
    expect(await page.locator('dialog').isVisible()).toBe(true);
  });
});

it('leads to the provider in the place of the shop where windows are blocked', async () => {
  await atShop(
    pathOf(newCheckout()),
    async (page) => {
      await frameOf(page).getByRole('button', { name: 'Pay $26.10' }).click();
      await page.waitForURL('**/visit');
    },
    { before: 'window.open = () => null' },
  );
});

it.each<[string, ShopOptions]>([
  ['on a phone', phone],
  ['without script', { javaScriptEnabled: false }],
  ['in a browser without dialogs', { before: 'delete HTMLDialogElement.prototype.showModal' }],
])('opens by the link, and looks as in any window, %s', async (_, options) => {
  const id = newCheckout();
  await atShop(
    pathOf(id),
    async (page) => {
      await page.waitForURL(baseUrl + pathOf(id));
      await page.getByRole('button', { name: 'Pay $26.10' }).waitFor();
      expect(await page.locator('.shop').textContent()).not.toContain('localhost');
    },
    options,
  );
});
