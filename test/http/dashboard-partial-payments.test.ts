import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { settle } from '../../src/payment/settle.ts';
import { depositOf } from '../store/observations.ts';
import { PASSWORD, type TestBrowser } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays } from '../support/page-text.ts';

let { dashboard, account, browser, signIn, give, read } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser, signIn, give, read } = shop), {
  role: 'developer',
  account: { timeZone: 'Asia/Kolkata' },
});

describe('a payment that received less or more than it asked for', () => {
  /** 25.00 USD, paid from 24.50 USDC; deposits as the watcher would record them. */
  async function giveWith(...units: readonly bigint[]): Promise<Payment> {
    const { store } = dashboard;
    const payment = await give({
      amountCents: 25_00,
      currency: 'USD',
      note: 'Order 1042',
      originalAmountCents: null,
      customerFeeCents: null,
      usdUnits: 25_000_000n,
      paidThresholdUnits: 24_500_000n,
      provider: 'wert',
    });
    const from = { number: 10, hash: '0x10', timestampMs: Date.now() };
    await store.observations.startCursor(from);
    const deposits = units.map((each, index) => ({ ...depositOf(payment, 11, index), units: each }));
    await store.observations.recordScan(
      { from, final: { ...from, number: 12, hash: '0x12' }, scannedTo: 13, deposits, releases: [] },
      (view) => settle(view, { nowMs: Date.now() }),
    );
    return payment;
  }
  const part = '5.00 USDC of 25.00 USDC';

  it('is partially paid in the list, on its page and on the overview, with what can be done', async () => {
    const payment = await giveWith(5_000_000n);
    await give();
    expect(await read('/payments')).toContain('5.00 arrived');
    expect(await read('/payments?status=partially_paid')).toContain('5.00 arrived');
    expect(await read('/payments?status=overpaid')).toContain('No payment matches');
    const page = await read(`/payments/${payment.id}`);
    expect(page).toContain(
      `Partially paid: ${part} arrived (about $5.00 of $25.00). The payment is paid in full at 24.50 USDC.`,
    );
    expect(page).toContain(
      'The customer can pay the rest, $19.90 USD, at a provider that accepts the amount',
    );
    expect(page).toContain('cannot be canceled or released, because');
    expect(page).not.toContain('The deposits seen are below the paid threshold');
    const overview = await read('');
    expect(overview.slice(overview.indexOf('Needs your attention'))).toContain(
      `$25.00 USD Order 1042 · Only ${part} arrived.`,
    );
  });

  it('can be released to the wallet, and has a note on how it was settled, which customers never see', async () => {
    const payment = await giveWith(5_000_000n);
    const page = `/dashboard/payments/${payment.id}`;
    await dashboard.store.payments.decidePayment(payment.id, () => ({
      change: { status: 'canceled', forwardStatus: 'manual_required', cancelReason: 'expired' },
    }));
    const send = (path: string, fields: Record<string, string>) => browser.post(`${page}/${path}`, fields);
    expect((await send('settlement', { note: 'x'.repeat(501) })).payload).toMatch(
      /id="settlement-note"[^>]*aria-invalid="true"/,
    );
    expect((await send('settlement', { note: 'Refunded in cash' })).headers['location']).toBe(
      `${page}?flash=settled`,
    );
    expect(await read(`/payments/${payment.id}`)).toMatch(/Refunded in cash .*By person/);
    expect(await read(`/payments/${payment.id}`, await signIn('viewer'))).toContain(
      'How it was settled Refunded in cash',
    );
    await send('settlement', { note: ' ' });
    expect(await read(`/payments/${payment.id}`)).not.toContain('Refunded in cash');
    const entries = (await dashboard.store.audit.listEntries(account.id, null, 10)).map(
      ({ action }) => action,
    );
    expect(entries.filter((action) => action === 'payment.settlement_noted')).toHaveLength(2);
    expect(await read(`/payments/${payment.id}`)).toContain('5.00 USDC is held at the deposit address');
    expect((await send('release', {})).headers['location']).toBe(`${page}?flash=released`);
    expect(await dashboard.store.payments.findPaymentById(payment.id)).toMatchObject({
      releaseRequested: true,
      status: 'canceled',
    });
    await dashboard.store.payments.decidePayment(payment.id, () => ({
      change: { status: 'unpaid', forwardStatus: 'pending' },
    }));
    expect((await send('release', {})).statusCode).toBe(409);
  });

  it('is accepted as paid by an owner at the amount that was shown, which the audit log records', async () => {
    const payment = await giveWith(5_000_000n);
    const page = `/dashboard/payments/${payment.id}`;
    const send = (from: TestBrowser, fields: Record<string, string>) =>
      from.post(`${page}/accept`, { ...fields, password: PASSWORD });
    expect((await send(browser, { units: '5.000000' })).statusCode).toBe(403);
    const owner = await signIn('owner');
    expect((await read(`/payments/${payment.id}`)).includes('Accept 5.00 USDC')).toBe(false);
    expect((await read(`/payments/${payment.id}`, owner)).includes('Accept 5.00 USDC')).toBe(true);
    for (const [units, status] of [
      ['', 400],
      ['five', 400],
      ['-5', 400],
      ['4.999999', 409],
      ['24.5', 409],
    ] as const) {
      expect([units, (await send(owner, { units })).statusCode]).toEqual([units, status]);
    }
    const stored = () => dashboard.store.payments.findPaymentById(payment.id);
    expect(await stored()).toMatchObject({ paidThresholdUnits: 24_500_000n, forwardStatus: 'pending' });
    expect((await send(owner, { units: '5.000000' })).statusCode).toBe(303);
    expect(await stored()).toMatchObject({
      paidThresholdUnits: 5_000_000n,
      status: 'unpaid',
      forwardStatus: 'ready',
      amountMismatch: null,
    });
    expect((await send(owner, { units: '5.000000' })).statusCode).toBe(409);
    const [entry] = await dashboard.store.audit.listEntries(account.id, null, 10);
    expect(entry).toMatchObject({ action: 'payment.accepted', target: payment.id });
    expect(await read(`/payments/${payment.id}?flash=accepted`, owner)).toContain('The payment is accepted.');
  });

  it('is not offered for acceptance before its deposits are final', async () => {
    const payment = await giveWith(5_000_000n);
    const from = { number: 12, hash: '0x12', timestampMs: Date.now() };
    const deposit = { ...depositOf(payment, 13, 7), units: 1_000_000n };
    await dashboard.store.observations.recordScan(
      { from, final: from, scannedTo: 13, deposits: [deposit], releases: [] },
      (view) => settle(view, { nowMs: Date.now() }),
    );
    const owner = await signIn('owner');
    expect(await read(`/payments/${payment.id}`, owner)).not.toContain('Accept as paid');
    const page = `/dashboard/payments/${payment.id}`;
    const answer = await owner.post(`${page}/accept`, { units: '6.000000', password: PASSWORD });
    expectSays(answer, 409, 'not final on the chain yet');
  });

  it('is overpaid in the list, on its page and on the overview', async () => {
    const payment = await giveWith(22_380_000n, 22_380_000n);
    expect(await read('/payments?status=overpaid')).toContain('overpaid');
    const page = await read(`/payments/${payment.id}`);
    expect(page).toContain('Overpaid: 44.76 USDC arrived for a payment of 25.00 USDC.');
    expect(page).toContain('It arrived in 2 deposits.');
    const overview = await read('');
    expect(overview.slice(overview.indexOf('Needs your attention'))).toContain(
      '$25.00 USD Order 1042 · 19.76 USDC too much arrived. Check whether the customer paid twice. Refund the surplus',
    );
  });

  it('of dust alone is told on its page only, and needs nobody’s attention', async () => {
    const payment = await giveWith(1n);
    expect(await read('/payments?status=partially_paid')).toContain('No payment matches');
    expect(await read('')).not.toContain('Needs your attention');
    const page = (await browser.get(`/dashboard/payments/${payment.id}`)).payload;
    expect(page).toContain('title="0.000001 USDC">0.00</data>');
  });
});
