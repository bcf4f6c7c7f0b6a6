import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { failedResult, leave, newPayment, newSession, pay } from '../store/fixtures.ts';
import { desktop } from '../support/browser.ts';
import { type BrowserShop, useBrowserShop } from '../support/browser-shop.ts';
import { claimOldest } from '../support/claim-oldest.ts';

const DAY_MS = 86_400_000;

let { browser, dashboard, baseUrl, account, giveCredentials } = {} as BrowserShop;
useBrowserShop((shop) => ({ browser, dashboard, baseUrl, account, giveCredentials } = shop), {
  account: { name: 'Café Tortuga', baseCurrency: 'EUR' },
});

beforeAll(async () => {
  const { payments, search, webhooks, records } = dashboard.store;
  const nowMs = Date.now();
  await search.recordRates(
    [{ currency: 'EUR', hourMs: nowMs - (nowMs % 3_600_000) - 35 * DAY_MS, usdRate: 116_000_000n as never }],
    0,
  );
  for (let index = 0; index < 60; index++) {
    const createdAtMs = nowMs - Math.round((index * 7919) % 56) * DAY_MS - index * 60_000;
    const id = createPaymentIdGenerator(() => createdAtMs)();
    const payment = newPayment(account.id, { id, createdAtMs, provider: 'multi', currency: 'USD' });
    await payments.createPayment(payment, null);
    if (index % 5 === 4) continue;
    await records.addRecords([
      { accountId: account.id, kind: 'opened', name: id, texts: [], atMs: createdAtMs },
    ]);
    if (index % 7 === 6) continue;
    const provider = (['stripe', 'moonpay', 'wert'] as const)[index % 3] ?? 'wert';
    await payments.addSession(newSession(payment, { provider, createdAtMs: createdAtMs + 1_000 }), leave);
    if (index % 4 === 3) continue;
    const receivedUnits = BigInt(20 + ((index * 37) % 60)) * 1_000_000n;
    const forwardedUnits = (receivedUnits * 975n) / 1_000n;
    const paidAtMs = createdAtMs + 90_000 + index * 20_000;
    const change = {
      status: 'paid',
      forwardStatus: 'completed',
      paidAtMs,
      receivedUnits,
      forwardedUnits,
    } as const;
    await payments.decidePayment(payment.id, (view) => ({ ...(index < 14 ? pay(view) : {}), change }));
  }
  for (const claimed of await claimOldest(webhooks, 20, nowMs))
    await webhooks.recordWebhookResult(claimed as never, {
      ...failedResult,
      reason: 'dns_failed',
      finishedAtMs: nowMs - 60_000,
    });
});

async function signedIn(options: object): Promise<Page> {
  const page = await browser.newPage(options);
  await page.goto(`${baseUrl}/dashboard`);
  await giveCredentials(page);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  return page;
}

it('Home begins with what needs an action and what was received, all in the first 800 px', async () => {
  const page = await signedIn({ viewport: { width: 1280, height: 800 } });
  const tops = (await page.evaluate(`[...document.querySelectorAll('main h2')].map((heading) =>
    [heading.textContent.replace(/ \\d.*/, ''), heading.getBoundingClientRect().top])`)) as [
    string,
    number,
  ][];
  const names = ['Needs your attention', 'Received in your wallet', 'Latest payments'];
  expect(tops.map(([name]) => name)).toEqual(names);
  expect(tops.at(-1)?.[1]).toBeLessThan(660);
  expect(await page.evaluate("getComputedStyle(document.querySelector('.figure')).fontSize")).toBe('32px');
  expect(await page.locator('.figure + p').textContent()).toMatch(
    /^[▲▼] [\d.]+% in 30 days, after [\d.]+ in/,
  );
  await page.getByRole('searchbox', { name: 'Find a payment' }).fill('25.00');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
  await page.close();
});

it('a chart tells its values to the pointer and to the keyboard', async () => {
  const page = await signedIn(desktop);
  await page.getByRole('link', { name: 'Analytics' }).click();
  const marks = page.getByRole('group', { name: /^Received in USDC/ }).getByRole('img');
  const told = marks.locator('.told');
  await marks.first().focus();
  await page.keyboard.press('ArrowRight');
  expect([await told.nth(1).isVisible(), await told.first().isVisible()]).toEqual([true, false]);
  await page.keyboard.press('End');
  expect([await marks.last().getAttribute('tabindex'), await told.last().isVisible()]).toEqual(['0', true]);
  await marks.nth(5).hover();
  expect(await told.nth(5).isVisible()).toBe(true);
  await page.close();
});

it('an alert is dismissed without JavaScript', async () => {
  const page = await signedIn({ ...desktop, javaScriptEnabled: false });
  const alert = page.getByRole('listitem').filter({ hasText: 'Check the URL.' });
  expect(await alert.textContent()).toMatch(/\d+ webhooks\s+to .* failed/);
  await alert.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('status').filter({ hasText: 'The alert is dismissed.' }).waitFor();
  expect(await alert.count()).toBe(0);
  await page.close();
});
