import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import type { Payment } from '../../src/payment/payment.ts';
import type { PaidCount, PaymentSlot } from '../../src/payment/payment-statistics.ts';
import {
  DAY_MS,
  givePayments,
  leave,
  NOW_MS,
  newPayment,
  newSession,
  pay,
  type StoreContext,
} from './fixtures.ts';

const QUARTER_MS = 900_000;

/** What changes statistics: payments of two accounts are created and paid, and changes are folded. */
const create = fc.record({ account: fc.nat(1), quarter: fc.nat(5), currency: fc.constantFrom('EUR', 'INR') });
const become = fc.record({
  payment: fc.nat(12),
  minutesAfter: fc.constantFrom(0, 3, 20, 1_500),
  forwardStatus: fc.constantFrom('ready', 'completed'),
  hasSession: fc.boolean(),
});
const fold = fc.record({ limit: fc.integer({ min: 1, max: 4 }) });
const steps = fc.array(fc.oneof(create, become, fold), { minLength: 5, maxLength: 25 });

export function statisticsPromises(context: StoreContext): void {
  it('equal at any moment a recount of the payments, while changes are folded and before', async () => {
    const { payments: store, search } = context.store;
    const all = new Map<string, Payment>();
    const providers = new Map<string, PaidCount['provider']>();
    const expectRecount = async (owner: string) => {
      const range = [owner, NOW_MS, NOW_MS + 3 * DAY_MS] as const;
      const slots = search.listSlots(...range, QUARTER_MS);
      const [found, counts] = await Promise.all([slots, search.listPaidCounts(...range)]);
      const own = [...all.values()].filter(({ accountId }) => [accountId, SERVICE_LOG].includes(owner));
      expect({ slots: new Set(found), counts: new Set(counts) }).toEqual(recount(own, providers));
    };
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const [[one], [other]] = [await givePayments(context.store, 1), await givePayments(context.store, 1)];
        const payments = [one, other] as Payment[];
        const accountIds = payments.map(({ accountId }) => accountId);
        for (const payment of payments) all.set(payment.id, payment);
        for (const step of given) {
          if ('limit' in step) await search.foldStatistics(step.limit);
          else if ('account' in step) {
            const createdAtMs = NOW_MS + step.quarter * QUARTER_MS + 1;
            const currency = step.currency as Payment['currency'];
            const payment = newPayment(accountIds[step.account] as string, { createdAtMs, currency });
            await store.createPayment(payment, null);
            payments.push(payment);
            all.set(payment.id, payment);
          } else {
            const payment = all.get(payments[step.payment]?.id ?? '');
            if (payment === undefined) continue;
            const { id, createdAtMs, status } = payment;
            if (step.hasSession && status === 'unpaid') {
              await store.addSession(newSession(payment, { createdAtMs }), leave);
              providers.set(id, 'moonpay');
            }
            const forwardStatus = step.forwardStatus as 'ready' | 'completed';
            const units = {
              receivedUnits: 1_000_000n,
              forwardedUnits: forwardStatus === 'ready' ? 0n : 975_000n,
            };
            const paidAtMs = createdAtMs + step.minutesAfter * 60_000;
            // One that is paid is released, and not counted again.
            const change = status === 'paid' ? {} : { status: 'paid' as const, paidAtMs, ...units };
            const changed = await store.decidePayment(id, () => ({ change: { ...change, forwardStatus } }));
            all.set(id, changed as Payment);
          }
          for (const owner of [...accountIds, SERVICE_LOG]) await expectRecount(owner);
        }
        const folding = [search.foldStatistics(3), search.foldStatistics(3), search.foldStatistics(3)];
        await Promise.all([...folding, expectRecount(SERVICE_LOG), expectRecount(accountIds[0] as string)]);
      }),
      { numRuns: 10 },
    );
    while ((await search.foldStatistics(100)) > 0);
    await expectRecount(SERVICE_LOG);
  });

  it('add up the quarters of an hour of each step, folded and not', async () => {
    const { store } = context;
    const [first] = await givePayments(store, 1);
    const { accountId } = first as Payment;
    for (const quarter of [1, 50, 100]) {
      const createdAtMs = NOW_MS + quarter * QUARTER_MS;
      await store.payments.createPayment(newPayment(accountId, { createdAtMs }), null);
    }
    await store.search.foldStatistics(2);
    const days = await store.search.listSlots(accountId, NOW_MS, NOW_MS + 2 * DAY_MS, DAY_MS);
    expect(days.map(({ startMs, created }) => [startMs, created])).toEqual([
      [NOW_MS, 3],
      [NOW_MS + DAY_MS, 1],
    ]);
  });

  it('count a payment of any number of units that a token can move, as a bounded sum', async () => {
    const { store } = context;
    const payments = await givePayments(store, 2);
    for (const { id } of payments) {
      const units = { receivedUnits: 2n ** 255n, forwardedUnits: 0n };
      await store.payments.decidePayment(id, (view) => ({ change: { ...pay(view)?.change, ...units } }));
    }
    await store.search.foldStatistics(10);
    const accountId = payments[0]?.accountId as string;
    const [slot] = await store.search.listSlots(accountId, NOW_MS, NOW_MS + 1, QUARTER_MS);
    expect(slot).toMatchObject({ paid: 2, receivedUnits: 2 * 2 ** 50 });
  });
}

const none = { created: 0, converted: 0, paid: 0, paidCents: 0, receivedUnits: 0, feeUnits: 0 };

function recount(payments: readonly Payment[], providers: ReadonlyMap<string, PaidCount['provider']>) {
  const slots = new Map<string, PaymentSlot>();
  const counts = new Map<string, PaidCount>();
  const add = (timeMs: number, { currency }: Payment, more: Partial<typeof none>) => {
    const startMs = timeMs - (timeMs % QUARTER_MS);
    const key = `${startMs} ${currency}`;
    const slot: PaymentSlot = slots.get(key) ?? { startMs, currency, ...none };
    const sums = Object.entries(more).map(([field, value]) => [
      field,
      slot[field as keyof typeof none] + value,
    ]);
    slots.set(key, { ...slot, ...Object.fromEntries(sums) });
  };
  for (const payment of payments) {
    const { createdAtMs, paidAtMs, amountCents: paidCents } = payment;
    add(createdAtMs, payment, { created: 1, converted: Number(payment.status === 'paid') });
    if (paidAtMs === null) continue;
    add(paidAtMs, payment, { paid: 1, paidCents, receivedUnits: 1_000_000, feeUnits: 25_000 });
    const provider = providers.get(payment.id) ?? payment.provider;
    const minutes = (paidAtMs - createdAtMs) / 60_000;
    const settleClass = [1, 2, 5, 10, 30, 60, 360, 1_440].filter((bound) => minutes > bound).length;
    const key = `${provider} ${settleClass}`;
    counts.set(key, { provider, settleClass, paid: (counts.get(key)?.paid ?? 0) + 1 });
  }
  return { slots: new Set(slots.values()), counts: new Set(counts.values()) };
}
