import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import type { User } from '../../src/accounts/person.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { ADDRESS, failedResult, leave, newBatch, newKey, newPayment, pay } from '../store/fixtures.ts';
import { block } from '../store/observations.ts';
import { newEntry } from '../store/people.ts';
import { desktop, launchBrowser, phone, takePictures, takeScreenshot } from '../support/browser.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { freePorts } from '../support/free-ports.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';
import { cellsOutOfSight, statelessControlsOf, violationsOf } from '../support/page-checks.ts';

let browser: Browser;
let console: TestConsole;
let baseUrl: string;
let account: Account;
let waiting: Payment;
let operator: User;

beforeAll(async () => {
  browser = await launchBrowser();
  const [port] = await freePorts(1);
  baseUrl = `http://127.0.0.1:${port}`;
  console = await createTestConsole({ baseUrl, listens: true, hasMail: false });
  operator = await console.giveOperator({ email: 'olga@pay.example' });
  await fill();
});

afterAll(async () => {
  await browser?.close();
  await console?.close();
});

/** Something of everything that a page can show. */
async function fill(): Promise<void> {
  const { store, nowMs } = console.dashboard;
  for (const name of ['Flowers & more', 'Bücherstube'])
    await console.giveAccount({ name, email: 'shop@shop.example' });
  account = await console.giveAccount({ name: 'Café Tortuga', wallet: ADDRESS });
  await console.giveAccount({ name: 'Suspended shop', suspended: true });
  await console.dashboard.giveUser({ accountId: account.id, role: 'owner' });
  await store.accounts.createKey(newKey(account.id, { name: 'Web shop' }), 10);
  await store.audit.appendEntry(
    newEntry(account.id, { action: 'account.changed', target: 'fee from 2.5 % to 1.5 %' }),
  );
  await store.audit.appendEntry(
    newEntry(SERVICE_LOG, { action: 'provider.changed', target: 'Wert: switched off' }),
  );
  await store.providers.writeProviderSettings('wert', { active: false });
  await store.observations.startCursor({ ...block(100), timestampMs: nowMs() });
  console.outside.heads = { latest: { ...block(130), timestampMs: nowMs() }, final: block(128) };
  const give = async (change: Partial<Payment>): Promise<Payment> => {
    const payment = newPayment(account.id, change);
    await store.payments.createPayment(payment, null);
    return payment;
  };
  waiting = await give({ status: 'canceled', forwardStatus: 'manual_required' });
  await store.relay.openBatch(newBatch([await give({ forwardStatus: 'ready' })]), leave);
  const paid = { paidAtMs: nowMs(), receivedUnits: 20_000_000n, forwardedUnits: 19_500_000n };
  await store.payments.decidePayment((await give({ createdAtMs: nowMs() })).id, (view) => ({
    ...pay(view),
    change: { ...pay(view)?.change, ...paid },
  }));
  for (let index = 0; index < 40; index++) {
    const createdAtMs = nowMs() - index * 4 * 3_600_000 - 60_000;
    const payment = await give({ id: createPaymentIdGenerator(() => createdAtMs)(), createdAtMs });
    if (index % 4 === 0) continue;
    const receivedUnits = BigInt(20 + ((index * 37) % 60)) * 1_000_000n;
    const units = { receivedUnits, forwardedUnits: (receivedUnits * 975n) / 1_000n };
    await store.payments.decidePayment(payment.id, () => ({
      change: { status: 'paid', forwardStatus: 'completed', paidAtMs: createdAtMs + 90_000, ...units },
    }));
  }
  const [webhook] = await claimOldest(store.webhooks, 1, nowMs());
  if (webhook === undefined) throw new Error('no webhook was queued');
  await store.webhooks.recordWebhookResult(webhook, { ...failedResult, finishedAtMs: nowMs() });
}

const looks = [
  ['phone', 'dark', phone, '100%'],
  ['phone', 'light', phone, '200%'],
  ['desktop', 'light', desktop, '100%'],
  ['desktop', 'dark', desktop, '200%'],
] as const;

describe.each(looks)('the operator’s console on a %s in %s', (device, colorScheme, options, textSize) => {
  it(`can be reached and used, page by page, with text of ${textSize}`, async () => {
    const page = await browser.newPage({ ...options, colorScheme, reducedMotion: 'reduce' });
    page.setDefaultTimeout(8_000);
    const complaints: string[] = [];
    const kinds = new Set<string>();
    page.on('pageerror', (error) => complaints.push(error.message));
    const look = async (name: string) => {
      await page.evaluate(`document.documentElement.style.fontSize = '${textSize}'`);
      await takeScreenshot(page, `operator-${name}-${device}-${colorScheme}-${textSize.slice(0, 3)}.png`);
      for (const violation of await violationsOf(page)) complaints.push(`${name} ${violation}`);
      // Not `innerWidth`: a mobile browser zooms out of a page that is too wide, and it grows with the page.
      const overflow =
        Number(await page.evaluate('document.documentElement.scrollWidth')) - options.viewport.width;
      if (overflow > 0) complaints.push(`${name} is ${overflow} px too wide`);
      if (device === 'desktop') complaints.push(...(await statelessControlsOf(page, kinds)));
      // Larger text scrolls within the frame of a table.
      if (textSize === '100%')
        for (const text of await cellsOutOfSight(page)) complaints.push(`${name} hides ${text}`);
    };
    const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

    await page.goto(`${baseUrl}/operator`);
    await look('sign-in');
    await page.getByLabel('Email address').fill(operator.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await heading('Overview');
    await page.getByText('1 payment waiting for your decision').waitFor();
    expect(await page.title()).toMatch(/^\(\d\) Operator · Overview$/);
    for (const figure of ['Revenue in USDC', 'Received in USDC', 'Open'])
      await page.locator('dl.tiles dt', { hasText: figure }).waitFor();
    await look('overview');
    if (device === 'desktop' && colorScheme === 'light') await takePictures(page, 'operator-overview');
    await page.locator('.incident a', { hasText: 'Payments' }).first().click();
    await page.getByRole('region', { name: 'Payments that need attention' }).getByTitle(waiting.id).waitFor();
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Accounts' }).click();
    await heading('Accounts');
    await look('accounts');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await heading('Create an account');
    await page.getByRole('textbox', { name: 'Name' }).fill(`Shop for ${device} ${colorScheme}`);
    await look('new-account');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText('The account is created.').waitFor();
    await page.getByRole('link', { name: 'Invite a person' }).click();
    await heading('Invite a person');
    await page.getByLabel('Email address').fill('owner@shop.example');
    await page.getByLabel('Role').selectOption('owner');
    await page.getByLabel('Your password').fill('not the password');
    await page.getByRole('button', { name: 'Create a link' }).click();
    await page.getByText('Nothing was saved.').waitFor();
    await look('invite');
    await page.getByLabel('Your password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create a link' }).click();
    await heading('Invitation');
    await look('invited');
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByText('Suspend…').click();
    await look('suspend');
    await page.getByRole('button', { name: 'Suspend the account' }).click();
    await page.getByText('Suspended', { exact: true }).waitFor();
    for (const name of ['Providers', 'Settlement', 'Webhooks', 'Audit log']) {
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click();
      await heading(name);
      await look(name.toLowerCase().replace(' log', ''));
    }
    await page.goto(`${baseUrl}/operator/providers/moonpay`);
    await page.getByText('Disable…').click();
    await look('provider');
    await page.goto(`${baseUrl}/operator/payments/${waiting.id}`);
    await look('payment');
    await page.goto(`${baseUrl}/operator/nothing`);
    await look('nothing');
    await page.goto(`${baseUrl}/operator/accounts/${account.id}`);
    await heading('Café Tortuga');
    await page.getByLabel('Fee in percent').fill('3');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('This is a preview').waitFor();
    await page.getByText(/^Revoke…/).click();
    await page
      .getByText(/^Switch off…/)
      .first()
      .click();
    await look('account');
    await page.goto(`${baseUrl}/operator/accounts/${account.id}`);
    await page.getByRole('button', { name: 'View as merchant' }).click();
    await page.getByText('Read-only.').waitFor();
    await look('viewing');
    await page.getByRole('button', { name: 'Stop' }).click();
    await heading('Café Tortuga');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
