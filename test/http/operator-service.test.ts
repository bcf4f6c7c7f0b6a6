import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { settle } from '../../src/payment/settle.ts';
import type { BlockReference } from '../../src/settlement/settlement-store.ts';
import { ADDRESS, failedResult, leave, newBatch, newPayment, pay } from '../store/fixtures.ts';
import { block, depositOf } from '../store/observations.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { PASSWORD, type TestBrowser } from '../support/dashboard.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';
import { expectSays, textOf } from '../support/page-text.ts';

let console: TestConsole;
let browser: TestBrowser;
let account: Account;

beforeAll(async () => {
  console = await createTestConsole();
  browser = await console.signIn(await console.giveOperator());
  account = await console.giveAccount();
});
afterAll(() => console.close());

const storeOf = () => console.dashboard.store;

async function pageOf(path: string): Promise<string> {
  const answer = await browser.get(`/operator${path}`);
  expect([path, answer.statusCode]).toEqual([path, 200]);
  return textOf(answer.payload);
}

async function give(change: Partial<Payment> = {}): Promise<Payment> {
  const payment = newPayment(account.id, change);
  await storeOf().payments.createPayment(payment, null);
  return payment;
}

/** A payment’s id as tables show it. */
const shortOf = ({ id }: Payment) => `${id.slice(0, 8)}…${id.slice(-6)}`;

const lastEntryOf = async (accountId: string) => (await storeOf().audit.listEntries(accountId, null, 1))[0];

describe('providers', () => {
  it('are listed with state, health, minimum and last failure', async () => {
    const { adapters } = console.outside;
    const [banxa, wert] = [adapters.get('banxa'), adapters.get('wert')];
    if (banxa === undefined || wert === undefined) throw new Error('the world lacks providers');
    adapters.delete('klarna');
    const failing = { failuresInARow: 5, lastAnswerAtMs: null, lastFailureAtMs: Date.UTC(2026, 10, 21) };
    adapters.set('banxa', {
      ...banxa,
      health: () => ({ ...failing, isCircuitOpen: true, lastFailure: '<i>refused</i>' }),
    });
    const well = { failuresInARow: 0, lastAnswerAtMs: 1, lastFailureAtMs: null, lastFailure: null };
    adapters.set('wert', { ...wert, health: () => ({ ...well, isCircuitOpen: false }) });
    const text = await pageOf('/providers');
    expect(text).toMatch(/Banxa Offered not proved Paused 20\.00 Nov 21, 2026, 00:00 UTC <i>refused<\/i>/);
    expect(text).toMatch(/Wert Offered not proved Operational 1\.00 none/);
    expect(text).toMatch(/Klarna Not configured No requests yet/);
    expect((await browser.get('/operator/providers')).payload).not.toContain('<i>refused');
    expect(await pageOf('/providers/klarna')).toContain('KLARNA_');
  });

  it('are off in live mode until they are proved or switched on, and the page says how', async () => {
    expect(await pageOf('/providers')).not.toContain('nothing proves');
    const { adapters } = console.outside;
    const all = [...adapters];
    console.outside.isOffByDefault = true;
    for (const [id] of all) if (id !== 'stripe' && id !== 'banxa') adapters.delete(id);
    const warning = 'Off, because nothing proves your account there: ';
    const text = await pageOf('/providers');
    expect(text).toContain(`${warning}stripe, banxa. Run "provider prove ID", or enable one by name`);
    expect(text).toContain('Stripe Off not proved');
    expect(await pageOf('/providers/stripe')).toContain(`${warning}stripe.`);
    await browser.post('/operator/providers/stripe', { switch_on: '1' });
    expect(await pageOf('/providers/stripe')).not.toContain(warning);
    const switched = await pageOf('/providers');
    expect(switched).toContain(`${warning}banxa. Run`);
    expect(switched).toContain('Stripe Offered not proved');
    console.outside.isOffByDefault = false;
    for (const [id, adapter] of all) adapters.set(id, adapter);
  });

  it('show how many visits ended with a delivery, by provider and country', async () => {
    expect(await pageOf('/providers')).not.toContain('Deliveries by provider');
    for (let visit = 0; visit < 10; visit++)
      console.outside.visits.push({
        provider: 'wert',
        country: visit < 4 ? 'DE' : null,
        isDelivered: visit === 0,
      });
    expect(await pageOf('/providers')).toMatch(/Wert all 10 1 4\d% Wert DE 4 1 3\d%/);
    console.outside.visits.length = 0;
  });

  it('are switched off and on, and given a minimum, which the service’s log tells', async () => {
    const path = '/operator/providers/moonpay';
    const settings = () => storeOf().providers.readProviderSettings('moonpay');
    expect(await pageOf('/providers/moonpay')).toContain('Disable… No customer of any account can choose it');
    const answer = await browser.post(path, { switch_off: '1' });
    expect(answer.headers['location']).toBe(`${path}?flash=saved`);
    expect(await settings()).toMatchObject({ active: false });
    expect(await pageOf('/providers')).toContain('MoonPay Switched off');
    await browser.post(path, { switch_on: '1' });
    await browser.post(path, { minimum: '25', password: PASSWORD });
    expect(await settings()).toEqual({ active: true, pinned: null, minimumUsdCents: 25_00 });
    expect(await lastEntryOf(SERVICE_LOG)).toMatchObject({
      action: 'provider.changed',
      target: 'MoonPay: minimum 25.00 USD',
    });
    const refused = await browser.post(path, { minimum: '-1', password: PASSWORD });
    expect(refused.statusCode).toBe(400);
    expect(refused.payload).toMatch(/<input id="minimum"[^>]* value="-1"[^>]*aria-invalid="true"/);
    await browser.post(path, { minimum: '', password: PASSWORD });
    await browser.post(path, { pin: '1' });
    expect(await settings()).toEqual({ active: true, pinned: true, minimumUsdCents: null });
    expect(await pageOf('/providers/moonpay')).toContain('Place in the list first, where it can serve');
    await browser.post(path, { pin: '0' });
    expect(await settings()).toMatchObject({ pinned: false });
  });

  it('that are none answer 404', async () => {
    expect((await browser.get('/operator/providers/nobody')).statusCode).toBe(404);
    expect((await browser.post('/operator/providers/__proto__')).statusCode).toBe(404);
  });
});

describe('the settlement', () => {
  it('says so when no endpoint answers, and nothing was read', async () => {
    const text = await pageOf('/settlement');
    for (const words of ['no endpoint answers', 'Read up to nothing yet']) expect(text).toContain(words);
  });

  it('shows how far the chain is read, the relayer’s gas balance, and what is in flight', async () => {
    const nowMs = console.dashboard.nowMs();
    await storeOf().observations.startCursor({ ...block(100), timestampMs: nowMs - 3_600_000 });
    console.outside.heads = { latest: { ...block(130), timestampMs: nowMs }, final: block(128) };
    console.outside.gasBalanceWei = 123_450_000_000_000_000n;
    const carried = await give({ forwardStatus: 'ready' });
    await storeOf().relay.openBatch(newBatch([carried], { relayer: ADDRESS, nonce: 77 }), leave);
    const text = await pageOf('/settlement');
    expect(text).toContain('Newest block 130');
    expect(text).toMatch(/Sync delay 36\d\d s late/);
    expect(text).toContain('0.12345 about 12 low');
    expect(text).toContain(`${ADDRESS.slice(0, 8)}…${ADDRESS.slice(-4)} 77 ${shortOf(carried)}`);
  });

  it('lists the payments that need attention, with the next step', async () => {
    const late = await give({ status: 'canceled', forwardStatus: 'manual_required' });
    const refused = await give({ forwardStatus: 'manual_required', releaseRefusalReason: 'blocklisted' });
    const fine = await give({ forwardStatus: 'processing' });
    const text = await pageOf('/settlement');
    const waiting = text.slice(text.indexOf('Payments that need attention'));
    expect(waiting).toMatch(new RegExp(`${shortOf(late)}.*Release it to the merchant`));
    expect(waiting).toMatch(new RegExp(`${shortOf(refused)}.*\\(blocklisted\\)`));
    expect(waiting).not.toContain(shortOf(fine));
  });
});

describe('a payment', () => {
  let payment: Payment;
  beforeEach(async () => {
    payment = await give({ note: 'secret note', email: 'customer@example.com' });
  });
  const send = (name: string, fields: Record<string, string> = {}) =>
    browser.post(`/operator/payments/${payment.id}/${name}`, fields);

  it('is found by its id, and shows what lies at its address', async () => {
    const found = await browser.get(`/operator/payments?payment=${payment.id}`);
    expect(found.headers['location']).toBe(`/operator/payments/${payment.id}`);
    for (const typed of ['x', '', '01a1f640-bc00-70e9-afff-944244d0c452']) {
      const answer = await browser.get(`/operator/payments?payment=${typed}`);
      expect(answer.statusCode).toBe(404);
      expect(answer.payload).toMatch(
        new RegExp(`<input id="payment"[^>]* value="${typed}"[^>]*aria-invalid="true"`),
      );
      expect(textOf(answer.payload)).toContain('No payment has this id, short code or link.');
    }
    const text = await pageOf(`/payments/${payment.id}`);
    expect(text).toContain('Held at deposit address 0.00 USDC');
    expect(text).not.toContain('customer@example.com');
  });

  it('is released by the step of the command line, or the refusal says why', async () => {
    const refused = await send('release');
    expectSays(refused, 409, 'The deposit address of this payment holds no USDC');
    const canceled = await give({ status: 'canceled', forwardStatus: 'manual_required' });
    const from = (await storeOf().observations.readCursor()) ?? block(100);
    const final = { ...block(101), timestampMs: from.timestampMs };
    await storeOf().observations.recordScan(
      { from, final, scannedTo: 101, deposits: [depositOf(canceled, 101)], releases: [] },
      leave,
    );
    payment = canceled;
    expect((await send('release')).headers['location']).toContain('flash=released');
    expect(await storeOf().payments.findPaymentById(canceled.id)).toMatchObject({ releaseRequested: true });
    expect(await lastEntryOf(account.id)).toMatchObject({ action: 'payment.released', target: canceled.id });
  });

  it('that is partially paid is said to be, and only what is possible is offered', async () => {
    const before = await pageOf(`/payments/${payment.id}`);
    expect(before).toContain('Cancel payment');
    expect(before).not.toContain('Release the USDC held');
    const from = (await storeOf().observations.readCursor()) ?? block(100);
    const final = { ...block(from.number + 1), timestampMs: from.timestampMs };
    const part = { ...depositOf(payment, final.number), units: 5_000_000n };
    await storeOf().observations.recordScan(
      { from, final, scannedTo: final.number, deposits: [part], releases: [] },
      (view) => settle(view, { nowMs: Date.now() }),
    );
    const text = await pageOf(`/payments/${payment.id}`);
    for (const words of ['partially paid', 'Arrived 5.00 USDC of']) expect(text).toContain(words);
    expect(text).toContain('the customer can pay the rest on the checkout page');
    for (const words of ['Cancel payment', 'Release the USDC held']) expect(text).not.toContain(words);
    expect(text).not.toContain('continues automatically');
  });

  it('is not canceled while the chain is not read, and has other tokens sent to the merchant', async () => {
    expect((await send('cancel')).statusCode).toBe(409);
    const refused = await send('rescue', { token: '0x12' });
    expect(refused.statusCode).toBe(400);
    expect(refused.payload).toMatch(/<input id="token"[^>]* value="0x12"[^>]*aria-invalid="true"/);
    expect(console.outside.rescued).toEqual([]);
    const rescued = await send('rescue', { token: 'POL' });
    expect(rescued.headers['location']).toContain('flash=rescued');
    expect(console.outside.rescued).toEqual([`${payment.id} 0x${'0'.repeat(40)}`]);
    expect(await lastEntryOf(account.id)).toMatchObject({ action: 'payment.rescued' });
  });
});

it('webhooks that did not arrive are counted by host, and listed', async () => {
  expect(await pageOf('/webhooks')).toContain('All webhooks were delivered');
  for (const [outcome, reason] of [
    ['failed', 'http_500'],
    ['unknown', null],
  ] as const) {
    const payment = await give();
    await storeOf().payments.decidePayment(payment.id, pay);
    const [webhook] = await claimOldest(storeOf().webhooks, 1, Date.now());
    if (webhook === undefined) throw new Error('no webhook was queued');
    const result = { ...failedResult, outcome, reason, finishedAtMs: Date.now() };
    await storeOf().webhooks.recordWebhookResult(webhook, result);
  }
  const text = await pageOf('/webhooks');
  expect(text).toMatch(/shop\.example\.com 1 0 1/);
  expect(text).toContain('The endpoint responded with 500');
});

// The last one: it moves the cursor.
it('the sync delay is up to date only while a final block is confirmed', async () => {
  const nowMs = console.dashboard.nowMs();
  const { observations } = storeOf();
  await observations.startCursor(block(100));
  const from = (await observations.readCursor()) as BlockReference;
  const final = { ...block(from.number + 1), timestampMs: nowMs - 5_000 };
  await observations.recordScan({ from, final, scannedTo: final.number, deposits: [], releases: [] }, leave);
  const latest = { ...block(from.number + 2), timestampMs: nowMs };
  console.outside.heads = { latest, final };
  expect(await pageOf('/settlement')).toMatch(/Sync delay \d+ s up to date/);
  console.outside.heads = { latest, final: null };
  const text = await pageOf('/settlement');
  expect(text).toMatch(/Sync delay \d+ s/);
  expect(text).not.toContain('up to date');
});
