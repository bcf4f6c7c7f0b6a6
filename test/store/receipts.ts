import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { atOnce, DAY_MS, givePayments, pay, type StoreContext } from './fixtures.ts';

export function receiptPromises(context: StoreContext): void {
  const { store } = context;
  const { receipts } = store;
  const become = (payment: Payment) => store.payments.decidePayment(payment.id, pay);
  const claim = (limit = 10, sinceMs = 0) => receipts.claimReceipts(sinceMs, limit, 1);

  it('are queued when a payment with an email address is paid, and no other', async () => {
    const [open, paid] = await givePayments(store, 2);
    const [silent] = await givePayments(store, 1, { email: null });
    for (const payment of [paid, silent]) await become(payment as Payment);
    expect(await claim()).toEqual([paid?.id]);
    expect(open?.email).not.toBeNull();
  });

  it('are claimed once, whoever asks, and not again after a crash', async () => {
    const payments = await givePayments(store, 7);
    for (const payment of payments) await become(payment);
    const claimed = (await atOnce(5, () => claim(2))).flat();
    expect(new Set(claimed).size).toBe(claimed.length);
    await context.reopen();
    const rest = await claim();
    expect([...claimed, ...rest].sort()).toEqual(payments.map(({ id }) => id).sort());
    expect(await claim()).toEqual([]);
  });

  it('come back when they certainly were not sent, and not when they were or nobody knows', async () => {
    const payments = await givePayments(store, 3);
    for (const payment of payments) await become(payment);
    const [unsent, sent, failed] = await claim();
    await receipts.recordReceipt(unsent ?? '', 'pending', 2);
    await receipts.recordReceipt(sent ?? '', 'sent', 2);
    await receipts.recordReceipt(failed ?? '', 'failed', 2);
    expect(await claim()).toEqual([unsent]);
  });

  it('wait no longer than asked for', async () => {
    const [payment] = await givePayments(store, 1);
    await become(payment as Payment);
    expect(await claim(10, Date.now() + DAY_MS)).toEqual([]);
    expect(await claim(10, Date.now() - DAY_MS)).toHaveLength(1);
  });
}
