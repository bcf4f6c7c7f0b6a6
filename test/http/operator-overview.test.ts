import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { failedResult, leave, newBatch, newPayment, pay } from '../store/fixtures.ts';
import { block } from '../store/observations.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { type TestBrowser, textOf } from '../support/dashboard.ts';
import { createTestConsole, rpcEndpoint, type TestConsole } from '../support/operator.ts';

const HOUR_MS = 3_600_000;
let console: TestConsole;
let browser: TestBrowser;
let accounts: readonly [Account, Account];

beforeAll(async () => {
  console = await createTestConsole();
  browser = await console.signIn(await console.giveOperator());
  accounts = [await console.giveAccount(), await console.giveAccount()];
});
afterAll(() => console.close());

const overview = async (query = '') => textOf((await browser.get(`/operator${query}`)).payload);

async function give(account: Account, change: Partial<Payment> = {}): Promise<Payment> {
  const payment = newPayment(account.id, { createdAtMs: console.dashboard.nowMs(), ...change });
  await console.dashboard.store.payments.createPayment(payment, null);
  return payment;
}

const shortOf = ({ id }: Payment) => `${id.slice(0, 8)}…${id.slice(-6)}`;

it('is where the console opens, and says so when nothing needs attention', async () => {
  const text = await overview();
  expect(text).toContain('Nothing needs your attention.');
  for (const words of ['Revenue in USDC 0.00', 'Stuck payments None.']) expect(text).toContain(words);
  expect(text).toContain('rpc.example Operational 0 none');
});

it('adds up the revenue, the volume and the open payments of all accounts', async () => {
  const { store, nowMs } = console.dashboard;
  for (const account of accounts) {
    await store.payments.decidePayment((await give(account, { amountCents: 1_200_50 })).id, (view) => ({
      ...pay(view),
      change: {
        ...pay(view)?.change,
        paidAtMs: nowMs(),
        receivedUnits: 1_000_000_000n,
        forwardedUnits: 975_000_000n,
      },
    }));
    await give(account);
  }
  const text = await overview();
  expect(text).toContain('Revenue in USDC 50.00 the accounts’ fees Received in USDC 2,000.00');
  expect(text).toContain('Volume in EUR €2,401.00');
  expect(text).toContain('Paid 2 Open 2 created in the last 7 days and not paid Conversion 50%');
  expect(await overview('?days=30')).toContain('All accounts, the last 30 days');
  expect(await overview('?days=x')).toContain('All accounts, the last 7 days');
});

it('names what needs attention, each with a link to where one acts', async () => {
  const { store, nowMs } = console.dashboard;
  const { outside } = console;
  const [account] = accounts;
  const manual = await give(account, { status: 'canceled', forwardStatus: 'manual_required' });
  const due = await give(account, { forwardStatus: 'ready', releaseDueAtMs: nowMs() - HOUR_MS });
  const fresh = await give(account, { forwardStatus: 'ready', releaseDueAtMs: nowMs() - 60_000 });
  const slow = await give(account, { forwardStatus: 'ready' });
  const batch = newBatch([slow]);
  const attempts = batch.attempts.map((attempt) => ({ ...attempt, signedAtMs: nowMs() - HOUR_MS }));
  await store.relay.openBatch({ ...batch, attempts }, leave);
  await store.payments.decidePayment((await give(account)).id, pay);
  const [webhook] = await claimOldest(store.webhooks, 1, nowMs());
  if (webhook === undefined) throw new Error('no webhook was queued');
  await store.webhooks.recordWebhookResult(webhook, { ...failedResult, finishedAtMs: nowMs() });
  await store.observations.startCursor({ ...block(100), timestampMs: nowMs() - 181_000 });
  outside.gasBalanceWei = 10n ** 16n;
  outside.endpoints = [
    rpcEndpoint('slow.example', { isPaused: true, isFailing: true, lagBlocks: null }),
    rpcEndpoint('down.example', { isFailing: true }),
    rpcEndpoint('late.example', { isSlow: true }),
    rpcEndpoint('behind.example', { lagBlocks: 31 }),
    rpcEndpoint('odd.example', {
      disagreements: 2,
      lastDisagreement: { message: '<b>block 7</b>', agoMs: 9 * 60_000 },
    }),
    rpcEndpoint('calm.example', {
      disagreements: 1,
      lastDisagreement: { message: 'block 6', agoMs: 10 * 60_000 },
    }),
  ];
  const moonpay = outside.adapters.get('moonpay');
  if (moonpay === undefined) throw new Error('the world lacks providers');
  const health = { failuresInARow: 5, lastAnswerAtMs: null, lastFailureAtMs: 1, lastFailure: 'refused' };
  outside.adapters.set('moonpay', { ...moonpay, health: () => ({ ...health, isCircuitOpen: true }) });

  const page = (await browser.get('/operator')).payload;
  const text = textOf(page);
  const alerts = text.slice(text.indexOf('Needs your attention'), text.indexOf('All accounts'));
  expect(alerts).toContain('3 payments are stuck. Stuck payments');
  expect(alerts).toContain('A relayer is low on POL.');
  expect(alerts).toContain('The chain has not been read for more than three minutes. Settlement');
  expect(alerts).toContain('5 RPC endpoints are failing, slow, behind, or in disagreement.');
  expect(alerts).toContain('Paused after failures: MoonPay. Providers');
  expect(alerts).toContain('1 webhook is undelivered since yesterday. Webhooks');
  const stuck = text.slice(text.indexOf('Stuck payments Payment'));
  for (const payment of [manual, due, slow]) expect(stuck).toContain(shortOf(payment));
  expect(text).not.toContain(shortOf(fresh));
  expect(text).toContain('slow.example Paused – none');
  expect(text).toContain('down.example Failing 0 none');
  expect(text).toContain('late.example Slow 0 none');
  expect(text).toContain('behind.example Degraded 31 none');
  expect(text).toContain('odd.example Degraded 0 2, last 9 min ago: <b>block 7</b>');
  expect(text).toContain('calm.example Operational 0 1, last 10 min ago: block 6');
  expect(page).not.toContain('<b>block 7');
  expect(text).toMatch(/0\.01 about \d+ low: send it POL/);
  for (const path of [
    '#stuck',
    '#relayers',
    '#endpoints',
    '/operator/settlement',
    '/operator/providers',
    '/operator/webhooks',
  ])
    expect(page).toContain(`href="${path}"`);
});

it('says so when no endpoint answers', async () => {
  console.outside.gasBalanceWei = null;
  expect(await overview()).toContain('could not be read – unknown');
});
