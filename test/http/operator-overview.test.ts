import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { failedResult, leave, newBatch, newPayment, pay } from '../store/fixtures.ts';
import { block } from '../store/observations.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import type { TestBrowser } from '../support/dashboard.ts';
import { createTestConsole, rpcEndpoint, type TestConsole } from '../support/operator.ts';
import { textOf } from '../support/page-text.ts';

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

/** The page once what it shows is read anew. */
async function pageOf(query = ''): Promise<string> {
  console.dashboard.advance(5_001);
  return (await browser.get(`/operator${query}`)).payload;
}

const overview = async (query = '') => textOf(await pageOf(query));

async function give(account: Account, change: Partial<Payment> = {}): Promise<Payment> {
  const payment = newPayment(account.id, { createdAtMs: console.dashboard.nowMs(), ...change });
  await console.dashboard.store.payments.createPayment(payment, null);
  return payment;
}

const shortOf = ({ id }: Payment) => `${id.slice(0, 8)}…${id.slice(-6)}`;

it('is where the console opens, and is quiet when everything works', async () => {
  const page = await pageOf();
  const text = textOf(page);
  expect(page).toContain('<title>Operator · Overview</title>');
  expect(text).toMatch(/Providers (\d+) of \1 working RPC endpoints 1 of 1 working Relayers 1 of 1 working/);
  expect(text).toContain('Revenue in USDC 0.00');
  for (const words of ['since', 'MoonPay', 'rpc.example']) expect(text).not.toContain(words);
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
  await store.observations.startCursor({ ...block(100), timestampMs: nowMs() });
  outside.gasBalanceWei = 10n ** 16n;
  outside.signerFailure = 'the signer does not answer: start it';
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

  const page = await pageOf();
  const text = textOf(page);
  const order = [
    'Releases wait, because the signer does not answer: start it',
    'A relayer is low on POL: 2 releases overdue since',
    '5 of 6 RPC endpoints failing, slow, behind, or in disagreement',
    'Paused after failures: MoonPay',
    '1 payment waiting for your decision',
    '1 webhook undelivered since',
    'Health',
  ];
  expect(order.map((words) => text.indexOf(words))).toEqual(
    order.map((words) => text.indexOf(words)).sort((one, other) => one - other),
  );
  for (const words of order) expect(text).toContain(words);
  expect(text).toContain(
    'RPC endpoints 1 of 6 working slow.example Paused down.example Failing late.example Slow',
  );
  expect(text).not.toContain('calm.example');
  for (const path of [
    'settlement#relayers',
    'settlement#endpoints',
    'settlement#waiting',
    'providers',
    'webhooks',
  ])
    expect(page).toContain(`href="/operator/${path}"`);
  const settlement = (await browser.get('/operator/settlement')).payload;
  expect(settlement).toContain('<title>(6) Operator · Settlement</title>');
  for (const words of [
    'slow.example Paused unknown none',
    'down.example Failing unknown none',
    'behind.example Degraded 31 none',
    'odd.example Degraded 0 2, last 9 min ago: <b>block 7</b>',
    'calm.example Operational 0 1, last 10 min ago: block 6',
  ])
    expect(textOf(settlement)).toContain(words);
  for (const payment of [manual, due, slow]) expect(settlement).toContain(shortOf(payment));
  expect(settlement).not.toContain(shortOf(fresh));
  expect(settlement).not.toContain('<b>block 7');
  expect(textOf(settlement)).toMatch(/0\.01 about \d+ low: send it POL/);
});

it('names a dead chain once, first, with its age, and nothing that follows from it', async () => {
  console.outside.gasBalanceWei = null;
  console.outside.signerFailure = null;
  console.outside.endpoints = [rpcEndpoint('down.example', { isFailing: true, isPaused: true })];
  expect(await overview()).toMatch(/No RPC endpoint answers since \d\d:\d\d UTC , for \d+ s RPC endpoints/);
  // The third release becomes overdue because nothing is read any more.
  console.dashboard.advance(2 * HOUR_MS);
  const page = await pageOf();
  expect([...page.matchAll(/incident"><strong>([^<]+)/g)].map(([, words]) => words)).toEqual([
    'Payments are not being detected',
    '2 releases overdue',
    'Paused after failures: MoonPay',
    '1 payment waiting for your decision',
    '1 webhook undelivered',
  ]);
  expect(textOf(page)).toMatch(/not being detected since \d\d:\d\d UTC , for 2 h RPC endpoints/);
});
