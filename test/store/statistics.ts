import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SERVICE_LOG } from '../../src/domain/audit-entry.ts';
import type { Payment } from '../../src/domain/payment.ts';
import { createPaymentIdGenerator } from '../../src/domain/payment-id.ts';
import type { PaidCount, PaymentSlot } from '../../src/domain/payment-statistics.ts';
import type { Store } from '../../src/store/store.ts';
import {
  DAY_MS,
  givePayments,
  leave,
  NOW_MS,
  newAccount,
  newPayment,
  newSession,
  pay,
  type StoreContext,
} from './fixtures.ts';

const QUARTER_MS = 900_000;
const newId = createPaymentIdGenerator(() => NOW_MS);

/** What happens to statistics: payments of one of two accounts are created and paid, and changes are folded. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('create'),
    account: fc.nat(1),
    quarter: fc.nat(5),
    currency: fc.constantFrom('EUR' as const, 'INR' as const),
  }),
  fc.record({
    kind: fc.constant('pay'),
    payment: fc.nat(20),
    minutesAfter: fc.constantFrom(0, 3, 20, 25 * 60),
    isDirect: fc.boolean(),
    hasSession: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('fold'), limit: fc.integer({ min: 1, max: 4 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

export function statisticsPromises(context: StoreContext): void {
  it('equal at any moment a recount of the payments, folded or not', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const { store } = context;
        const accounts = [newAccount(), newAccount()] as const;
        for (const account of accounts) await store.accounts.createAccount(account);
        const payments: Payment[] = [];
        const providers = new Map<string, string>();
        for (const each of steps) {
          await take(
            store,
            each,
            accounts.map(({ id }) => id),
            payments,
            providers,
          );
          for (const { id } of accounts) await expectRecount(store, id, payments, providers);
        }
        // With a fold under way, which the next run continues.
        const [account] = accounts;
        const fold = () => store.search.foldStatistics(3);
        const read = () => expectRecount(store, account.id, payments, providers);
        await Promise.all([fold(), read(), fold(), read(), fold(), read(), fold(), read()]);
        while ((await fold()) > 0);
        await read();
      }),
      { numRuns: 12 },
    );
    const all = await context.store.search.listSlots(SERVICE_LOG, NOW_MS, NOW_MS + 10 * DAY_MS, DAY_MS);
    const listed = await context.store.payments.listPayments({}, null, 10_000);
    const sum = (field: 'created' | 'converted' | 'paid') =>
      all.reduce((total, slot) => total + slot[field], 0);
    expect([sum('created'), sum('converted'), sum('paid')]).toEqual([
      listed.length,
      ...['', ''].map(() => listed.filter(({ status }) => status === 'paid').length),
    ]);
  });

  it('count each payment once, and a direct one with the fee that its release will have', async () => {
    const { store } = context;
    const [card, direct] = (await givePayments(store, 3)) as [Payment, Payment];
    const { accountId } = card;
    const become = (payment: Payment, receivedUnits: bigint, forwardedUnits: bigint) =>
      store.payments.decidePayment(payment.id, (view) => ({
        ...pay(view),
        change: { ...pay(view)?.change, receivedUnits, forwardedUnits },
      }));
    await become(card, 10_000_003n, 9_750_003n);
    await become(direct, 20_000_039n, 0n);
    const slots = () => store.search.listSlots(accountId, NOW_MS, NOW_MS + 1, QUARTER_MS);
    const counted = { created: 3, converted: 2, paid: 2, paidCents: 2 * 10_257 };
    const units = { receivedUnits: 30_000_042, feeUnits: 250_000 + 500_000 };
    expect(await slots()).toEqual([{ startMs: NOW_MS, currency: 'EUR', ...counted, ...units }]);
    await Promise.all([store.search.foldStatistics(100), store.search.foldStatistics(100)]);
    expect(await store.search.foldStatistics(100)).toBe(0);
    expect(await slots()).toEqual([{ startMs: NOW_MS, currency: 'EUR', ...counted, ...units }]);
    expect(await store.search.listSlots(SERVICE_LOG, NOW_MS, NOW_MS + 1, QUARTER_MS)).toEqual(await slots());
    const days = (owner: string) => store.search.listPaidCounts(owner, NOW_MS, NOW_MS + 1);
    expect(await days(accountId)).toEqual([{ provider: 'multi', settleClass: 0, paid: 2 }]);
    expect(await days(SERVICE_LOG)).toEqual(await days(accountId));
    expect(await store.search.listSlots('another', 0, NOW_MS + 1, QUARTER_MS)).toEqual([]);
    expect(await store.search.listSlots(accountId, NOW_MS + 1, NOW_MS + 2, QUARTER_MS)).toEqual([]);
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
    for (const payment of payments) {
      await store.payments.decidePayment(payment.id, (view) => ({
        ...pay(view),
        change: { ...pay(view)?.change, receivedUnits: 2n ** 255n, forwardedUnits: 0n },
      }));
    }
    await store.search.foldStatistics(10);
    const accountId = payments[0]?.accountId as string;
    const [slot] = await store.search.listSlots(accountId, NOW_MS, NOW_MS + 1, QUARTER_MS);
    expect(slot).toMatchObject({ paid: 2, receivedUnits: 2 * 2 ** 50 });
  });
}

async function take(
  store: Store,
  given: Step,
  accountIds: readonly string[],
  payments: Payment[],
  providers: Map<string, string>,
): Promise<void> {
  if (given.kind === 'fold') return void (await store.search.foldStatistics(given.limit as number));
  if (given.kind === 'create') {
    const payment = newPayment(accountIds[given.account as number] as string, {
      id: newId(),
      createdAtMs: NOW_MS + (given.quarter as number) * QUARTER_MS + 1,
      currency: given.currency,
    });
    await store.payments.createPayment(payment, null);
    payments.push(payment);
    return;
  }
  const index = given.payment as number;
  const payment = payments[index];
  if (payment === undefined) return;
  if (given.hasSession && payment.status === 'unpaid') {
    await store.payments.addSession(newSession(payment, { createdAtMs: payment.createdAtMs }), leave);
    providers.set(payment.id, 'moonpay');
  }
  const change = {
    status: 'paid',
    forwardStatus: given.isDirect ? 'ready' : 'completed',
    paidAtMs: payment.createdAtMs + (given.minutesAfter as number) * 60_000,
    receivedUnits: 1_000_000n,
    forwardedUnits: given.isDirect ? 0n : 975_000n,
  } as const;
  // A paid one goes on from paid, and is not counted again.
  const next = payment.status === 'paid' ? ({ forwardStatus: 'completed' } as const) : change;
  payments[index] = (await store.payments.decidePayment(payment.id, () => ({ change: next }))) as Payment;
}

async function expectRecount(
  store: Store,
  accountId: string,
  payments: readonly Payment[],
  providers: ReadonlyMap<string, string>,
): Promise<void> {
  const range = [accountId, NOW_MS, NOW_MS + 10 * DAY_MS] as const;
  const [slots, counts] = await Promise.all([
    store.search.listSlots(...range, QUARTER_MS),
    store.search.listPaidCounts(...range),
  ]);
  const expected = recount(
    payments.filter((payment) => payment.accountId === accountId),
    providers,
  );
  expect({ slots: new Set(slots), counts: new Set(counts) }).toEqual(expected);
}

function recount(payments: readonly Payment[], providers: ReadonlyMap<string, string>) {
  const slots = new Map<string, PaymentSlot>();
  const counts = new Map<string, PaidCount>();
  const add = (timeMs: number, { currency }: Payment, more: Partial<PaymentSlot>) => {
    const startMs = Math.floor(timeMs / QUARTER_MS) * QUARTER_MS;
    const none = { created: 0, converted: 0, paid: 0, paidCents: 0, receivedUnits: 0, feeUnits: 0 };
    const before: PaymentSlot = slots.get(`${startMs} ${currency}`) ?? { startMs, currency, ...none };
    const fields = Object.keys(none) as (keyof typeof none)[];
    const sums = fields.map((field) => [field, before[field] + (more[field] ?? 0)]);
    slots.set(`${startMs} ${currency}`, { ...before, ...Object.fromEntries(sums) });
  };
  for (const payment of payments) {
    const { createdAtMs, paidAtMs, amountCents } = payment;
    add(createdAtMs, payment, { created: 1, converted: Number(payment.status === 'paid') });
    if (paidAtMs === null) continue;
    const units = { receivedUnits: 1_000_000, feeUnits: 25_000 };
    add(paidAtMs, payment, { paid: 1, paidCents: amountCents, ...units });
    const provider = (providers.get(payment.id) ?? payment.provider) as PaidCount['provider'];
    const minutes = (paidAtMs - createdAtMs) / 60_000;
    const settleClass = [1, 2, 5, 10, 30, 60, 360, 1_440].filter((bound) => minutes > bound).length;
    const key = `${provider} ${settleClass}`;
    counts.set(key, { provider, settleClass, paid: (counts.get(key)?.paid ?? 0) + 1 });
  }
  return { slots: new Set(slots.values()), counts: new Set(counts.values()) };
}
