import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { type EndToEndService, startEndToEndService } from '../support/e2e-service.ts';
import { waitFor } from '../support/wait-for.ts';

/** From the click at the on-ramp to a final release on the local chain, on a busy machine. */
const SETTLED_MS = 120_000;

let service: EndToEndService;
let browser: Browser;
/** The demo shop's owner, signed in. */
let merchant: BrowserContext;
let signIn: { email: string; password: string };

beforeAll(async () => {
  service = await startEndToEndService();
  browser = await launchBrowser();
  const [, email = '', password = ''] =
    /Sign in as +(\S+), password (\S+)/.exec(service.process().output()) ?? [];
  signIn = { email, password };
  merchant = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await merchant.newPage();
  // Its address leads on to everything.
  await page.goto(service.url);
  await page.getByRole('main').getByRole('link', { name: 'Documentation' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Dashboard' }).click();
  await giveCredentials(page);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.close();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

/** A page of the merchant's browser. */
async function newPage(): Promise<Page> {
  const page = await merchant.newPage();
  page.setDefaultTimeout(30_000);
  return page;
}

async function giveCredentials(at: Page): Promise<void> {
  await at.getByLabel('Email address').fill(signIn.email);
  await at.getByLabel('Password').fill(signIn.password);
  await at.getByRole('button', { name: 'Sign in' }).click();
}

const open = (page: Page, path: string) => page.goto(`${service.url}/dashboard${path}`);

/** Follows the service, which shows a moment later what has happened. */
async function openUntil(page: Page, path: string, text: string | RegExp): Promise<void> {
  await waitFor(`${text} on ${path}`, SETTLED_MS, async () => {
    await open(page, path);
    return (await page.getByText(text).count()) > 0;
  });
}

/** A customer pays at a provider with a card of the sandbox. */
async function payWith(customer: Page, url: string, provider: string, card: string): Promise<void> {
  await customer.goto(url);
  const button = customer.locator(`button[data-provider="${provider}"]`);
  if (!(await button.isVisible())) await customer.locator('details.others > summary').click();
  await button.click();
  await customer.locator(`a[href="?card=${encodeURIComponent(card)}"]`).click();
  await customer.locator('form[method=post] button[type=submit]').first().click();
  await customer.locator('#result').waitFor();
  // Not every provider has a way back.
  await customer.goto(url);
}

const headingIs = (customer: Page, name: RegExp) =>
  customer.getByRole('heading', { level: 1, name }).waitFor({ timeout: SETTLED_MS });

it('a first test payment counts once it is paid, and is listed with the provider that the customer chose', async () => {
  const page = await newPage();
  await open(page, '');
  const step = page.getByRole('listitem').filter({ hasText: 'Make a test payment' });
  expect(await step.textContent()).toContain('to do');

  await page.getByRole('link', { name: 'Payment links' }).click();
  await page.getByLabel('Amount').fill('12,50');
  await page.getByLabel('What the customer pays for').fill('Two coffees');
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('button', { name: 'Copy link' }).click();
  const link = await page.getByLabel('Link', { exact: true }).inputValue();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link);
  await open(page, '/links');
  expect(await page.getByRole('row', { name: 'Two coffees' }).textContent()).toContain('$12.50');

  // The payment of a link is there, and nobody has paid it.
  await openUntil(page, '', 'your newest payment, which is unpaid');
  expect(await step.textContent()).toContain('to do');
  const customer = await browser.newPage();
  await payWith(customer, link, 'Stripe', '4242 4242 4242 4242');
  await headingIs(customer, /^Paid\b/);
  await waitFor('the paid step', SETTLED_MS, async () => {
    await open(page, '');
    return (await step.textContent())?.includes('done');
  });
  expect(await page.textContent('dl.tiles')).toMatch(/Net in USDC.*Received in USDC.*Fees in USDC/s);

  await open(page, '/payments?status=paid');
  const row = page.getByRole('row', { name: '$12.50' });
  expect(await row.textContent()).toContain('Stripe');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV' }).first().click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  const [names = [], cells = []] = Buffer.concat(chunks)
    .toString('utf8')
    .split('\r\n')
    .map((line) => line.split(','));
  expect(cells[names.indexOf('session_provider')]).toBe('stripe');
  await row.getByRole('link').first().click();
  expect(await page.locator('.lead').textContent()).toMatch(/^You received [\d.]+ USDC of [\d.]+ USDC/);
});
