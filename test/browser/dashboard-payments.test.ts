import { beforeAll, expect, it } from 'vitest';
import { feeUnits } from '../../src/payment/fees-and-paid-threshold.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { providerIds } from '../../src/payment/provider-catalog.ts';
import { failedResult, leave, newPayment, newSession, webhook } from '../store/fixtures.ts';
import { depositOf, releaseOf } from '../store/observations.ts';
import { desktop, phone, takePictures, takeScreenshot } from '../support/browser.ts';
import { type BrowserShop, useBrowserShop } from '../support/browser-shop.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { cellsOutOfSight, overflowOf, statelessControlsOf, violationsOf } from '../support/page-checks.ts';

const DAY_MS = 86_400_000;

let { browser, dashboard, baseUrl, account, cookies } = {} as BrowserShop;
useBrowserShop((shop) => ({ browser, dashboard, baseUrl, account, cookies } = shop), {
  account: { name: 'Café Tortuga', timeZone: 'Europe/Berlin' },
  user: { email: 'maria@tortuga.example' },
});
let paid: Payment;
/** From a wallet, and still to be paid. */
let direct: Payment;
beforeAll(() => fillAccount());

function amountsOf(amountCents: number) {
  const usdUnits = BigInt(amountCents) * 10_900n;
  const withoutFee = { originalAmountCents: null, customerFeeCents: null, passFeeToCustomer: false };
  return { amountCents, ...withoutFee, usdUnits, paidThresholdUnits: (usdUnits * 93n) / 100n };
}

/** Fills the account as a month of business does. */
async function fillAccount(): Promise<void> {
  const { store, nowMs } = dashboard;
  let timeMs = nowMs() - 29 * DAY_MS;
  const newId = createPaymentIdGenerator(() => timeMs);
  const block = { number: 10, hash: '0x10', timestampMs: nowMs() };
  await store.observations.startCursor(block);
  for (let index = 0; index < 60; index++) {
    timeMs += Math.round((DAY_MS * (index % 7)) / 6.5);
    const payment = newPayment(account.id, {
      id: newId(),
      createdAtMs: timeMs,
      note: `Table ${index}, two cakes`,
      ...amountsOf(1_250 + 733 * index),
      currency: index % 9 === 0 ? 'USD' : 'EUR',
      provider: index % 4 === 0 ? 'moonpay' : 'multi',
    });
    await store.payments.createPayment(payment, null);
    const provider = providerIds[index % 3] ?? 'moonpay';
    await store.payments.addSession(
      newSession(payment, {
        provider,
        createdAtMs: timeMs + 20_000,
        quotedUnits: payment.paidThresholdUnits + 1_500_000n,
      }),
      leave,
    );
    if (index % 3 === 0) continue;
    const paidAtMs = timeMs + 60_000 * (1 + (index % 12) ** 2);
    await store.payments.decidePayment(payment.id, () => ({
      change: {
        status: 'paid',
        forwardStatus: 'completed',
        paidAtMs,
        receivedUnits: payment.paidThresholdUnits,
        forwardedUnits: payment.paidThresholdUnits - feeUnits(payment.paidThresholdUnits, 250),
      },
      webhooks: [webhook],
    }));
    paid = payment;
  }
  direct = newPayment(account.id, { provider: 'direct' });
  await store.payments.createPayment(direct, null);
  const place = { from: block, final: { ...block, number: 12, hash: '0x12' }, scannedTo: 13 };
  const units = paid.paidThresholdUnits + 1_234_560n;
  const feeOfLast = units / 40n;
  const deposit = { ...depositOf(paid, 11, 0, units), transactionHash: `0x${'cd'.repeat(32)}` };
  const release = {
    ...releaseOf(paid, 12),
    transactionHash: `0x${'ab'.repeat(32)}`,
    toMerchantUnits: units - feeOfLast,
    feeUnits: feeOfLast,
  };
  await store.observations.recordScan({ ...place, deposits: [deposit], releases: [release] }, leave);
  const claimed = await claimOldest(store.webhooks, 100, nowMs());
  const failed = claimed.find(({ paymentId }) => paymentId === paid.id) as (typeof claimed)[number];
  await store.webhooks.recordWebhookResult(failed, { ...failedResult, finishedAtMs: nowMs() });
}

const looks = [
  ['phone', 'dark', phone],
  ['desktop', 'light', desktop],
] as const;

const addresses: Record<string, () => string> = {
  home: () => '',
  analytics: () => '/analytics',
  payments: () => '/payments',
  'payments-filtered': () => '/payments?q=cakes&status=paid&currency=EUR&from=2026-01-01',
  'payments-none': () => '/payments?q=nothing+like+it',
  'payments-refused': () => '/payments?from=yesterday',
  payment: () => `/payments/${paid.id}`,
  evidence: () => `/payments/${paid.id}/evidence`,
  links: () => '/links',
  link: () => `/links/${paid.id}`,
  'links-direct': () => '/links/direct',
  'link-direct': () => `/links/${direct.id}`,
};

/** What a window shows of these at first, `npm run pictures` keeps for the README. */
const inReadme = new Set(['home', 'payment']);

it.each(looks)(
  'the pages of payments on a %s in %s are accessible and fit',
  async (device, colorScheme, options) => {
    const context = await browser.newContext({ ...options, colorScheme, reducedMotion: 'reduce' });
    await context.addCookies(cookies);
    const page = await context.newPage();
    const complaints: string[] = [];
    const kinds = new Set<string>();
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(request.url()));
    for (const [name, addressOf] of Object.entries(addresses)) {
      await page.goto(`${baseUrl}/dashboard${addressOf()}`);
      const overflow = await overflowOf(page);
      await takeScreenshot(page, `dashboard-${name}-${device}-${colorScheme}.png`);
      if (device === 'desktop' && inReadme.has(name)) await takePictures(page, `dashboard-${name}`);
      expect([name, overflow, await violationsOf(page)]).toEqual([name, 0, []]);
      expect([name, await cellsOutOfSight(page)]).toEqual([name, []]);
      expect([name, await statelessControlsOf(page, kinds)]).toEqual([name, []]);
    }
    expect(complaints).toEqual([]);
    await context.close();
  },
);

it.each([
  ['phone', 64, phone],
  ['desktop', 40, desktop],
] as const)(
  'a row of 50 payments on a %s is %d px high, one link, and hides nothing',
  async (_name, height, options) => {
    const context = await browser.newContext(options);
    await context.addCookies(cookies);
    const page = await context.newPage();
    await page.goto(`${baseUrl}/dashboard/payments`);
    const heights = `[...document.querySelectorAll('tbody tr')].map((row) => Math.round(row.offsetHeight))`;
    expect(new Set((await page.evaluate(heights)) as number[])).toEqual(new Set([height]));
    const hidden = `[...document.querySelectorAll('tbody :is(th, td)')].filter((cell) =>
    cell.textContent !== '' && (cell.offsetWidth === 0 || cell.offsetHeight === 0)).length`;
    expect(await page.evaluate(hidden)).toBe(0);
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.locator('tbody tr').nth(3).locator('td').last().click({ force: true });
    await page.getByRole('heading', { level: 1, name: /^Payment of/ }).waitFor();
    await context.close();
  },
);

it('a merchant finds a payment, changes its note and makes a link, with the keyboard and without JavaScript', async () => {
  const context = await browser.newContext({ ...desktop, javaScriptEnabled: false });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(`${baseUrl}/dashboard/payments`);
  await page.getByLabel('Search').fill('table 58');
  await page.keyboard.press('Enter');
  await page.getByRole('row').nth(1).getByRole('link').click();
  await page.getByLabel('More actions').click();
  await page.getByLabel('Your note').fill('Table 58, paid twice');
  await page.getByRole('button', { name: 'Save the note' }).click();
  expect(await page.getByRole('status').first().textContent()).toBe('The note is saved.');
  await page.getByRole('link', { name: 'Payment links' }).click();
  await page.getByLabel('Amount').fill('12.30');
  await page.getByLabel('Payout wallet').fill('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed');
  await page.getByLabel('Webhook address').fill('https://shop.example.com/hook');
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByRole('img', { name: 'QR code of the link' }).waitFor();
  await context.close();
});

it('a webhook that failed is shown to be read, with a request for the status to copy', async () => {
  const context = await browser.newContext({
    ...desktop,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(`${baseUrl}/dashboard/payments/${paid.id}`);
  const folded = (await page.evaluate('document.documentElement.scrollHeight')) as number;
  expect(folded).toBeLessThan(1_500);
  await page.locator('#webhook summary').click();
  expect(await page.locator('#webhook-body-text').textContent()).toMatch(/^\{\n {2}"event": "payment.paid"/);
  // An event that is sent again by hand is too old for the SDK after 300 seconds.
  await page.getByText('An event is sent once. Read the payment’s status instead').waitFor();
  await page.locator('[data-copies="webhook-status-text"]').click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
    `'${baseUrl}/api/v1/payment-status?payment_id=${paid.id}'`,
  );
  await page.locator('[data-copies="webhook-curl-text"]').click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^curl --request POST '/);
  await context.close();
});

it('a payment tells what happened from the newest on, and leads to a refund that says what each choice returns', async () => {
  const context = await browser.newContext({ ...desktop, javaScriptEnabled: false });
  await context.addCookies(cookies);
  const page = await context.newPage();
  await page.goto(`${baseUrl}/dashboard/payments/${paid.id}`);
  const titles = await page.locator('.timeline strong').allTextContents();
  expect([titles[0], titles.at(-1)]).toEqual(['Webhook payment.paid failed', 'Created']);
  expect(titles.filter((title) => /\sUSDC (arrived|sent)/.test(title))).toHaveLength(2);
  expect(await page.locator('.timeline li').nth(-2).textContent()).toContain(', +20 s');
  await page.getByRole('link', { name: 'Refund', exact: true }).click();
  await page
    .getByText(/^Customer paid .* · arrived .* · you received .*\sUSDC \(fee .* is not returned\)$/)
    .last()
    .waitFor();
  const choices = await page.getByLabel('How much').locator('option').allTextContents();
  expect(choices.map((choice) => choice.replace(/: [\d.]+\sUSDC$/, ''))).toEqual([
    'All that is left',
    'What you received',
    'Another amount in USDC',
    'An amount of the charge in EUR',
    'A percentage of the charge',
  ]);
  expect(await page.getByLabel('Another amount or percentage').inputValue()).toBe('');
  await context.close();
});
