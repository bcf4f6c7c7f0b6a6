import { expect, it } from 'vitest';
import type { Payment, PaymentId } from '../../src/payment/payment.ts';
import { atOnce, DAY_MS, givePayment, givePayments, NOW_MS, pay, type StoreContext } from './fixtures.ts';

export function receiptPromises(context: StoreContext): void {
  const { store } = context;
  const { receipts } = store;
  const become = (payment: Payment) => store.payments.decidePayment(payment.id, pay);
  const cancel = (payment: Payment) =>
    store.payments.decidePayment(payment.id, () => ({
      change: { status: 'canceled', forwardStatus: 'canceled', cancelReason: 'expired' },
    }));
  const claim = async (limit = 10, sinceMs = 0) =>
    (await receipts.claimReceipts(sinceMs, limit, 1)).map(({ id }) => id);
  const ask = (payment: Payment, email: string) =>
    receipts.askForReceipt(payment.id, { email, language: 'de' }, NOW_MS);
  /** How many addresses that customers gave are stored anywhere; erases them. */
  const storedAddresses = () => receipts.eraseAddresses(NOW_MS, 2 * Date.now(), 2 * Date.now(), 100);

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

  it.each([
    ['paid', become],
    ['canceled', cancel],
  ])(
    'go to the last address that a customer gave once the payment is %s, once, and it is erased',
    async (_, end) => {
      const [payment, other] = (await givePayments(store, 2, { email: null })) as [Payment, Payment];
      for (const email of ['first@example.com', 'last@example.com']) await ask(payment, email);
      await end(other);
      expect(await claim()).toEqual([]);
      await end(payment);
      await context.reopen();
      expect(await receipts.claimReceipts(0, 10, 1)).toEqual([
        { id: payment.id, email: 'last@example.com', language: 'de' },
      ]);
      expect((await store.payments.viewPayment(payment.id))?.payment.email).toBeNull();
      await receipts.recordReceipt(payment.id, 'sent', 2);
      await ask(payment, 'another@example.com');
      expect([await claim(), await storedAddresses()]).toEqual([[], 0]);
    },
  );

  it('are sent at once where the payment has ended, and never beside those to its own address', async () => {
    const [own] = (await givePayments(store, 1)) as [Payment];
    await ask(own, 'stranger@example.com');
    const paid = await givePayment(store, { email: null });
    for (const payment of [own, paid]) await become(payment);
    await ask(paid, 'customer@example.com');
    const claimed = await receipts.claimReceipts(0, 10, 1);
    expect(new Set(claimed.map(({ email }) => email))).toEqual(new Set([null, 'customer@example.com']));
  });

  it('keep an address neither after an erasure, nor a crash, nor a day without a mail server', async () => {
    const [erased, crashed, unsent, waiting] = (await givePayments(store, 4, { email: null })) as Payment[];
    for (const payment of [erased, crashed, unsent, waiting])
      await ask(payment as Payment, 'jane@example.com');
    expect(await store.emails.eraseEmail(erased as Payment)).toBe('none');
    expect(await receipts.findReceiptStatus(erased?.id as PaymentId)).toBe('failed');
    for (const payment of [erased, crashed]) await become(payment as Payment);
    expect(await claim(1)).toEqual([crashed?.id]);
    await become(unsent as Payment);
    const later = Date.now() + DAY_MS;
    expect(await receipts.eraseAddresses(NOW_MS, NOW_MS - 1, 0, 100)).toBe(0);
    expect(await receipts.eraseAddresses(NOW_MS, later, 0, 100)).toBe(2);
    expect([await claim(), await receipts.findReceiptStatus(waiting?.id as PaymentId)]).toEqual([
      [],
      'wanted',
    ]);
    expect(await receipts.eraseAddresses(NOW_MS, later, later, 100)).toBe(1);
  });

  it('are erased with the emails of old payments of an account', async () => {
    const payment = await givePayment(store, { email: null });
    await ask(payment, 'jane@example.com');
    const step = await store.emails.eraseEmailsBefore(payment.accountId, NOW_MS + 2 * DAY_MS, 10);
    expect([step.erased, await storedAddresses()]).toEqual([0, 0]);
  });

  it('are sent after all where an older version ended the payment, or recorded one that it did not send', async () => {
    const [forgotten, unsent, sent] = (await givePayments(store, 3, { email: null })) as [
      Payment,
      Payment,
      Payment,
    ];
    await become(forgotten);
    for (const payment of [unsent, sent]) await ask(payment, 'jane@example.com');
    for (const payment of [unsent, sent]) await become(payment);
    await claim();
    await receipts.recordReceipt(sent.id, 'sent', 2);
    const left = (status: string, { id }: Payment) =>
      context.change(`INSERT INTO receipts (payment_id, status, email, language, created_at_ms)
        VALUES ('${id}', '${status}', 'jane@example.com', 'de', ${NOW_MS})
        ON CONFLICT (payment_id) DO UPDATE SET status = excluded.status`);
    await left('wanted', forgotten);
    await left('sent', unsent);
    const later = NOW_MS + 2 * DAY_MS;
    expect(await receipts.eraseAddresses(later, later - 1, later - 1, 100)).toBe(0);
    expect((await claim(10, later)).sort()).toEqual([forgotten.id, unsent.id].sort());
  });
}
