import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import {
  atOnce,
  givePayment,
  givePayments,
  newPayment,
  newSession,
  pay,
  type StoreContext,
} from './fixtures.ts';

const idsOf = (payments: readonly Payment[]) => payments.map((payment) => payment.id);

export function paymentListPromises(context: StoreContext): void {
  const { store } = context;
  const { payments, search, webhooks } = store;
  it('are of one origin and account, the newest first', async () => {
    const [older, newer] = await givePayments(store, 2, { origin: 'link', orderLine: 'Größe L' });
    if (older === undefined || newer === undefined) throw new Error('two were given');
    await payments.createPayment(newPayment(older.accountId), null);
    expect(await payments.listByOrigin(older.accountId, 'link', 10)).toEqual([newer, older]);
    expect(await payments.listByOrigin(older.accountId, 'link', 1)).toEqual([newer]);
    expect(await payments.listByOrigin('another account', 'link', 10)).toEqual([]);
  });

  it('are past a deadline of their own, the oldest first, and found by their reference', async () => {
    const orderDetails = { items: [], returnUrl: null, cancelUrl: 'https://shop.example/ü' };
    const order = { reference: 'Größe', metadata: { b: '1', a: '\u2028' }, orderDetails };
    const { accountId } = await givePayment(store);
    const due = [1_002, 1_001, 1_001].map((deadlineMs) => newPayment(accountId, { ...order, deadlineMs }));
    for (const payment of due) await payments.createPayment(payment, null);
    const [later, first, open] = due as [Payment, Payment, Payment];
    await payments.addSession(newSession(open, { expiresAtMs: 5_001 }), () => null);
    expect(await payments.listPastDeadline(1_002, 5_000, 10)).toEqual([first.id, later.id]);
    expect((await payments.listPastDeadline(1_001, 5_001, 10)).toSorted()).toEqual(
      idsOf([first, open]).sort(),
    );
    const found = await search.searchPayments({ accountId, reference: 'Größe' }, null, 2);
    expect(found.payments).toEqual([open, first]);
    await payments.decidePayment(first.id, pay);
    expect(await payments.listPastDeadline(1_002, 5_000, 10)).toEqual([later.id]);
  });

  it('become paid without a webhook where they have no callback', async () => {
    const payment = await givePayment(store, { callbackUrl: null });
    expect((await payments.decidePayment(payment.id, pay))?.status).toBe('paid');
    expect(await webhooks.listWebhooks(payment.id)).toEqual([]);
  });

  it('lists ids oldest first between two bounds that need not be ids', async () => {
    const ids = idsOf(await givePayments(store, 10));
    expect(await payments.listPaymentIds('', '~', 100)).toEqual(ids);
    expect(await payments.listPaymentIds('', '~', 3)).toEqual(ids.slice(0, 3));
    expect(await payments.listPaymentIds(ids[2] as string, ids[6] as string, 100)).toEqual(ids.slice(3, 6));
    expect(await payments.listPaymentIds(`${ids[2]}~`, '~', 100)).toEqual(ids.slice(3));
    expect(await payments.listPaymentIds('~', '~', 100)).toEqual([]);
  });

  it('lists the fingerprints of open payments above an id, and of older ones with work under way, each once', async () => {
    const [first] = await givePayments(store, 1);
    const accountId = first?.accountId as string;
    const give = async (tokenFingerprint: string, change: Partial<Payment> = {}) => {
      const payment = newPayment(accountId, { tokenFingerprint, ...change });
      await payments.createPayment(payment, null);
      return payment;
    };
    await give('old, not released', { status: 'paid', forwardStatus: 'ready' });
    await payments.decidePayment((await give('old, its webhook waits')).id, pay);
    await give('expired');
    const oldest = await give('oldest');
    await give('rare');
    await give('paid', { status: 'paid', forwardStatus: 'completed' });
    await give('canceled', { status: 'canceled', forwardStatus: 'canceled' });
    await give('paid, not released', { status: 'paid', forwardStatus: 'ready' });
    await atOnce(3, () => give('usual'));
    await give('newest');
    const found = await payments.listOpenFingerprints(oldest.id);
    const underWay = ['old, its webhook waits', 'old, not released', 'paid, not released'];
    expect(found.toSorted()).toEqual(['newest', ...underWay, 'rare', 'usual']);
    expect((await payments.listOpenFingerprints('~')).toSorted()).toEqual(underWay);
  });

  it('finds the payments of deposit addresses in any case, 500 in one look-up', async () => {
    const [one, other] = (await givePayments(store, 3)) as [Payment, Payment];
    const strangers = Array.from({ length: 498 }, (_, index) => `0x${index.toString(16).padStart(40, 'e')}`);
    const asked = [...strangers, one.depositAddress.toLowerCase(), other.depositAddress];
    const owners = [one, other].map(({ id, depositAddress }) => ({ id, depositAddress }));
    const found = await payments.findDepositOwners(asked);
    expect(found.toSorted((left, right) => (left.id < right.id ? -1 : 1))).toEqual(owners);
    expect(await payments.findDepositOwners(strangers)).toEqual([]);
  });

  it('lists the deposit addresses above an id, and says when there are more than were asked for', async () => {
    const given = (await givePayments(store, 3)) as [Payment, Payment, Payment];
    const [first, second, third] = given.map(({ depositAddress }) => depositAddress);
    await payments.decidePayment(given[1].id, pay);
    expect(await payments.listDepositAddresses('', 3)).toEqual([first, second, third]);
    expect(await payments.listDepositAddresses('', 2, 3)).toEqual([first, third]);
    expect(await payments.listDepositAddresses(given[0].id, 2)).toEqual([second, third]);
    expect(await payments.listDepositAddresses('', 2)).toBeNull();
    expect(await payments.listDepositAddresses('', 1, 3)).toBeNull();
    expect(await payments.listDepositAddresses('', 2, 2)).toBeNull();
    expect(await payments.listDepositAddresses('~', 1)).toEqual([]);
  });
}
