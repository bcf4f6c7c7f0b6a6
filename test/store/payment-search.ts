import { expect, it } from 'vitest';
import { SERVICE_LOG } from '../../src/domain/audit-entry.ts';
import { type DisplayStatus, displayStatuses, displayStatusOf } from '../../src/domain/display-status.ts';
import type { Payment, PaymentId } from '../../src/domain/payment.ts';
import { firstIdAtMs, shortCodeOf } from '../../src/domain/payment-id.ts';
import { type PaymentQuery, parsePaymentSearch } from '../../src/domain/payment-search.ts';
import { refusedStatuses, type UnsettledStatus, unsettledStatuses } from '../../src/domain/payment-states.ts';
import { indexPayments } from '../../src/payments/index-payments.ts';
import type { Store } from '../../src/store/store.ts';
import {
  givePayment,
  givePayments,
  leave,
  NOW_MS,
  newPayment,
  newSession,
  pay,
  type StoreContext,
} from './fixtures.ts';
import { block, depositOf, releaseOf, scan } from './observations.ts';

const idsOf = (payments: readonly Payment[]) => payments.map((payment) => payment.id);

/** Indexes all there is. */
async function indexAll(store: Store): Promise<void> {
  while (await indexPayments(store));
}

/** All pages of a list, and how many there were. */
async function allPages(store: Store, query: PaymentQuery, size: number): Promise<Payment[]> {
  const found: Payment[] = [];
  for (let before: PaymentId | null = null; ; ) {
    const page = await store.search.searchPayments(query, before, size);
    expect(page.payments.length).toBeLessThanOrEqual(size);
    found.push(...page.payments);
    if (page.next === null) return found;
    before = page.next;
  }
}

function searched(accountId: string, text: string): PaymentQuery {
  const search = parsePaymentSearch(text);
  if (search === null) throw new Error(`nothing to search for in ${text}`);
  return { accountId, search };
}

export function paymentSearchPromises(context: StoreContext): void {
  it('lists each payment under the one status that the dashboard shows', async () => {
    const { store } = context;
    const payments = await givePayments(store, 12);
    const [first] = payments as [Payment];
    const at = (session: object) => async (payment: Payment) => {
      const { progress, ...fields } = { progress: null, ...session };
      const earlier = newSession(payment, { id: `a-${payment.id}`, createdAtMs: NOW_MS - 9, ...over });
      const last = newSession(payment, { id: `b-${payment.id}`, createdAtMs: NOW_MS, ...fields });
      for (const added of [earlier, last]) await store.payments.addSession(added, leave);
      if (progress !== null)
        await store.payments.recordSessionProgress(payment.id, last.id, progress, NOW_MS);
    };
    const become = (change: Partial<Payment>) => (payment: Payment) =>
      store.payments.decidePayment(payment.id, () => ({ change }));
    const [over, there] = [{ expiresAtMs: NOW_MS }, { expiresAtMs: NOW_MS + 1 }];
    const canceled = { status: 'canceled', forwardStatus: 'canceled' } as const;
    const made: [DisplayStatus, (payment: Payment) => Promise<unknown>][] = [
      ['open', async () => undefined],
      ['open', at(over)],
      ['open', at({ ...over, progress: 'paying' })],
      ['open', become({ forwardStatus: 'ready' })],
      ['at_provider', at(there)],
      ['at_provider', at({ ...over, progress: 'delivering' })],
      ['declined', at({ ...there, progress: 'failed' })],
      ['partially_paid', become({ amountMismatch: 'partially_paid' })],
      ['overpaid', become({ amountMismatch: 'overpaid' })],
      ['expired', become({ ...canceled, cancelReason: 'expired' })],
      ['canceled', become({ ...canceled, cancelReason: 'merchant' })],
    ];
    for (const [index, [, make]] of made.entries()) await make(payments[index] as Payment);
    await store.payments.decidePayment((payments[11] as Payment).id, pay);
    await indexAll(store);
    const { accountId } = first;
    const sessions = await store.search.listLastSessions(accountId, idsOf(payments));
    for (const status of displayStatuses) {
      const found = await allPages(store, { accountId, display: { status, nowMs: NOW_MS } }, 2);
      const expected = payments.filter((_, index) => (made[index]?.[0] ?? 'paid') === status);
      expect([status, idsOf(found).sort()]).toEqual([status, idsOf(expected).sort()]);
      for (const payment of found) {
        expect(displayStatusOf(payment, sessions.get(payment.id), NOW_MS)).toBe(status);
      }
    }
  });

  it('keeps the first exchange rate of an hour, by currency, and deletes those of hours long ago', async () => {
    const { search } = context.store;
    const rate = (hourMs: number, usdRate: bigint, currency: 'EUR' | 'INR' = 'EUR') => ({
      currency,
      hourMs,
      usdRate,
    });
    await search.recordRates([rate(1_000, 109n), rate(2_000, 110n), rate(2_000, 1n, 'INR')], 0);
    await search.recordRates([rate(2_000, 999n), rate(3_000, 111n)], 2_000);
    const found = await search.listRates('EUR', 0, 3_000);
    expect([...found].sort((a, b) => a.hourMs - b.hourMs)).toEqual([rate(2_000, 110n), rate(3_000, 111n)]);
    expect(await search.listRates('EUR', 2_001, 2_999)).toEqual([]);
    expect(await search.listRates('INR', 2_000, 2_000)).toEqual([rate(2_000, 1n, 'INR')]);
  });

  it('pages through an account’s payments newest first, each once, indexed or not', async () => {
    const [first] = await givePayments(context.store, 1);
    const [other] = await givePayments(context.store, 1);
    const accounts = [first?.accountId as string, other?.accountId as string] as const;
    const more = Array.from({ length: 2_300 }, (_, index) =>
      newPayment(index % 400 === 0 ? accounts[0] : accounts[1], {
        provider: index % 2 === 0 ? 'moonpay' : 'multi',
        currency: index % 3 === 0 ? 'INR' : 'EUR',
      }),
    );
    const create = (payments: readonly Payment[]) =>
      Promise.all(payments.map((payment) => context.store.payments.createPayment(payment, null)));
    await create(more.slice(0, 2_000));
    await indexAll(context.store);
    await create(more.slice(2_000));

    const newest = [first as Payment, other as Payment, ...more].reverse();
    for (const [query, size] of [
      [{ accountId: accounts[0] }, 4],
      [{ accountId: accounts[1] }, 700],
      [{ accountId: accounts[1], provider: 'moonpay', currency: 'INR' }, 50],
      [{ accountId: accounts[1], status: 'paid' }, 50],
      [{ accountId: 'unknown' }, 10],
    ] as const) {
      const wanted = newest.filter((payment) =>
        Object.entries(query).every(([field, value]) => payment[field as keyof Payment] === value),
      );
      expect(idsOf(await allPages(context.store, query, size))).toEqual(idsOf(wanted));
    }
  });

  it('lists what was created from one moment on and before another', async () => {
    const payments = await givePayments(context.store, 3);
    const accountId = payments[0]?.accountId as string;
    const old = newPayment(accountId, { id: `${firstIdAtMs(NOW_MS - 60_000)}-7000-8000-000000000000` });
    await context.store.payments.createPayment(old, null);
    await indexAll(context.store);
    const list = (query: Partial<PaymentQuery>) => allPages(context.store, { accountId, ...query }, 2);
    expect(idsOf(await list({ beforeMs: NOW_MS - 1 }))).toEqual([old.id]);
    expect(idsOf(await list({ fromMs: NOW_MS - 1 }))).toEqual(idsOf([...payments].reverse()));
    expect(idsOf(await list({ fromMs: NOW_MS - 60_001, beforeMs: NOW_MS - 59_999 }))).toEqual([old.id]);
    expect(await list({ fromMs: NOW_MS + 3_600_000 })).toEqual([]);
  });

  it('finds an account’s payment by id, short code, link, email, note, order line, amount and transaction, and no other’s', async () => {
    const { store } = context;
    const plain = { email: null, note: null, amountCents: 500, originalAmountCents: null };
    const payment = await givePayment(store, {
      email: 'Jane.Doe+shop@Example.com',
      note: 'Order #A-1001\nfür Bücher & Söhne',
      orderLine: 'Two tickets for the Lighthouse',
      amountCents: 123_456,
    });
    const { accountId, id } = payment;
    const foreign = await givePayment(store, {
      email: payment.email,
      note: payment.note,
      amountCents: 123_456,
    });
    await store.payments.createPayment(newPayment(accountId, { ...plain, note: 'Order 1002' }), null);
    await indexAll(store);
    await store.observations.startCursor(block(10));
    const release = { ...releaseOf(payment, 12), transactionHash: `0x${'ab'.repeat(32)}` };
    const deposit = { ...depositOf(payment, 11), transactionHash: `0x${'cd'.repeat(32)}` };
    await store.observations.recordScan(
      scan(10, 12, 13, { deposits: [deposit], releases: [release] }),
      leave,
    );

    for (const text of [
      id,
      id.toUpperCase(),
      shortCodeOf(id),
      `https://pay.example.com/s/${shortCodeOf(id)}`,
      `http://localhost:3000/pay/${id}?auto=1`,
      'jane.doe+SHOP@example.com',
      'order a-1001',
      '1001 SÖHNE',
      // Beginnings of words, also of the name in front of the @; amounts as the list shows them and as people write them.
      'jane',
      'jan',
      'DOE',
      'doe jane',
      'jane.doe',
      'jane.doe+shop@exa',
      'büch',
      'ord 1001',
      'order-a',
      'light',
      'ticket order 1001',
      '1234,56',
      '1.234,56',
      '1,234.56 EUR',
      '€1,234.56 eur',
      'order 1234,56 EUR',
      '1234.56€',
      '1234.56',
      '1,234.56',
      '€1234.56',
      `0x${'ab'.repeat(32)}`,
      `0x${'CD'.repeat(32)}`,
      'order 1234.56',
    ]) {
      const found = await allPages(store, searched(accountId, text), 10);
      expect([text, idsOf(found)]).toEqual([text, [id]]);
    }
    for (const text of [
      '1003',
      'order 1001 1002',
      'jane@example.com',
      '1234.57',
      `0x${'ef'.repeat(32)}`,
      // Less than three characters are a whole word, and what is inside a word does not begin it.
      'ja',
      'ane',
      'example',
      '1234.56 USD',
      '12,34',
      'jane.doe+shop@example.com.au',
      'orders',
    ]) {
      expect([text, await allPages(store, searched(accountId, text), 10)]).toEqual([text, []]);
    }
    for (const text of [id, shortCodeOf(id), `0x${'ab'.repeat(32)}`]) {
      expect(await allPages(store, searched(foreign.accountId, text), 10)).toEqual([]);
    }
  });

  it('finds one payment by the beginning of a word that thousands share with it', async () => {
    const { store } = context;
    const maria = await givePayment(store, { email: 'maria.gomez@example.com', note: null });
    const { accountId } = maria;
    const others = Array.from({ length: 2_100 }, (_, index) =>
      newPayment(accountId, {
        email: `marc.${index}@example.com`,
        note: index === 0 ? 'Webshop order' : null,
      }),
    );
    await Promise.all(others.map((payment) => store.payments.createPayment(payment, null)));
    await indexAll(store);
    const page = async (text: string) => store.search.searchPayments(searched(accountId, text), null, 50);
    expect(idsOf(await allPages(store, searched(accountId, 'mari'), 50))).toEqual([maria.id]);
    expect(idsOf((await page('maria')).payments)).toEqual([maria.id]);
    expect(idsOf((await page('webs')).payments)).toEqual([others[0]?.id]);
    const sorted = idsOf(others).toSorted().toReversed();
    expect(idsOf((await page('marc')).payments)).toEqual(sorted.slice(0, 50));
    expect(idsOf(await allPages(store, searched(accountId, 'marc'), 700))).toEqual(sorted);
  });

  it('finds a payment by its new note and no longer by the old one, indexed before or after', async () => {
    const { store } = context;
    const { accountId, id } = await givePayment(store, { note: 'blue shoes', email: 'a@example.com' });
    const find = async (text: string) => idsOf(await allPages(store, searched(accountId, text), 10));
    expect((await store.search.editNote({ accountId, id }, 'blue hat'))?.note).toBe('blue hat');
    expect(await find('hat')).toEqual([id]);
    await indexAll(store);
    expect(await store.search.editNote({ accountId, id }, 'red hat')).toMatchObject({ id, note: 'red hat' });
    expect(await find('blue')).toEqual([]);
    expect(await find('red hat')).toEqual([id]);
    expect(await find('a@example.com')).toEqual([id]);
    await store.search.editNote({ accountId, id }, null);
    expect(await find('red')).toEqual([]);
    expect((await store.payments.findPayment(accountId, id))?.note).toBeNull();
    expect(await store.search.editNote({ accountId: 'another', id }, 'stolen')).toBeNull();
    expect((await store.payments.findPaymentById(id))?.note).toBeNull();
  });

  it('indexes and counts each payment once, however often and in whatever order it is asked to', async () => {
    const { store } = context;
    const [early, late, open] = await givePayments(store, 3);
    const accountId = early?.accountId as string;
    await store.payments.addSession(newSession(early as Payment), leave);
    await store.payments.decidePayment((early as Payment).id, (view) => ({
      ...pay(view),
      change: { ...pay(view)?.change, receivedUnits: 10_000_003n, forwardedUnits: 9_750_003n },
    }));
    expect(await store.search.countPaid(10)).toBe(0);
    await Promise.all([indexPayments(store), indexPayments(store)]);
    await indexAll(store);
    // Direct: paid, and released later.
    await store.payments.decidePayment((late as Payment).id, (view) => ({
      ...pay(view),
      change: { ...pay(view)?.change, receivedUnits: 20_000_039n, forwardedUnits: 0n },
    }));
    await Promise.all([store.search.countPaid(10), store.search.countPaid(10)]);
    await indexAll(store);

    const slots = await store.search.listSlots(accountId, NOW_MS, NOW_MS + 1, 900_000);
    expect(slots).toEqual([
      {
        startMs: NOW_MS,
        currency: 'EUR',
        created: 3,
        converted: 2,
        paid: 2,
        paidCents: 2 * 10_257,
        receivedUnits: 30_000_042,
        feeUnits: 250_000 + 500_000,
      },
    ]);
    const day = await store.search.listSlots(accountId, NOW_MS - 86_400_000, NOW_MS + 86_400_000, 86_400_000);
    expect(day).toEqual(slots);
    const counted = await store.search.listPaidCounts(accountId, NOW_MS, NOW_MS + 1);
    expect(counted).toEqual([{ provider: 'multi', settleClass: 0, paid: 2 }]);
    expect(await store.search.listSlots(SERVICE_LOG, NOW_MS, NOW_MS + 1, 900_000)).toEqual(slots);
    expect(await store.search.listPaidCounts(SERVICE_LOG, NOW_MS, NOW_MS + 1)).toEqual(counted);
    expect(await store.search.listSlots('another', 0, NOW_MS + 1, 900_000)).toEqual([]);
    expect(await store.search.listSlots(accountId, NOW_MS + 1, NOW_MS + 2, 900_000)).toEqual([]);
    expect(open?.status).toBe('unpaid');
  });

  it('counts a payment of any number of units that a token can move, as a bounded sum', async () => {
    const { store } = context;
    const payments = await givePayments(store, 2);
    for (const payment of payments) {
      await store.payments.decidePayment(payment.id, (view) => ({
        ...pay(view),
        change: { ...pay(view)?.change, receivedUnits: 2n ** 255n, forwardedUnits: 0n },
      }));
    }
    await indexAll(store);
    const accountId = payments[0]?.accountId as string;
    const [slot] = await store.search.listSlots(accountId, NOW_MS, NOW_MS + 1, 900_000);
    expect(slot).toMatchObject({ paid: 2, receivedUnits: 2 ** 50 });
  });

  it('makes everything anew after somebody has emptied its tables', async () => {
    const payment = await givePayment(context.store, { note: 'blue shoes' });
    await context.store.payments.decidePayment(payment.id, pay);
    await indexAll(context.store);
    await context.change(
      ['payment_index', 'payment_terms', 'uncounted_payments', 'payment_buckets', 'paid_days']
        .map((table) => `DELETE FROM ${table};`)
        .join(' '),
    );
    await indexAll(context.store);
    const { accountId, id } = payment;
    expect(idsOf(await allPages(context.store, searched(accountId, 'blue'), 10))).toEqual([id]);
    expect(idsOf(await allPages(context.store, { accountId }, 10))).toEqual([id]);
    const slots = await context.store.search.listSlots(accountId, NOW_MS, NOW_MS + 1, 900_000);
    expect(slots).toMatchObject([{ created: 1, converted: 1, paid: 1 }]);
  });

  it('lists what needs a hand, and sees it behind any number of newer payments under way', async () => {
    const { store } = context;
    const payments = await givePayments(store, 5);
    const accountId = payments[0]?.accountId as string;
    const come = (index: number, forwardStatus: Payment['forwardStatus']) =>
      store.payments.decidePayment((payments[index] as Payment).id, () => ({ change: { forwardStatus } }));
    const sorted = idsOf(payments).toSorted();
    const oldest = payments.findIndex(({ id }) => id === sorted[0]);
    const others = [0, 1, 2, 3, 4].filter((index) => index !== oldest);
    await come(oldest, 'manual_required');
    for (const [turn, index] of others.entries()) await come(index, turn === 0 ? 'failed' : 'ready');
    const failed = payments[others[0] as number]?.id;
    for (const owner of [null, accountId]) {
      const listed = async (statuses: readonly UnsettledStatus[], limit: number) =>
        idsOf(await store.search.listUnsettled(owner, statuses, limit));
      expect(await listed(['manual_required'], 1)).toEqual([sorted[0]]);
      expect(await listed(refusedStatuses, 2)).toEqual([failed, sorted[0]]);
      expect(await listed(refusedStatuses, 1)).toEqual([failed]);
      expect(await listed(unsettledStatuses, 10)).toEqual(sorted.toReversed());
    }
    expect(await store.search.listUnsettled('another', refusedStatuses, 10)).toEqual([]);
  });

  it('keeps each state that a payment comes into, with its time', async () => {
    const { store } = context;
    const payment = await givePayment(store);
    const come = (status: Payment['status'], forwardStatus: Payment['forwardStatus']) =>
      store.payments.decidePayment(payment.id, () => ({ change: { status, forwardStatus } }));
    await come('unpaid', 'ready');
    await store.payments.decidePayment(payment.id, () => ({ change: { releaseRefusals: 1 } }));
    expect(idsOf(await store.search.listUnsettled(null, unsettledStatuses, 10))).toEqual([payment.id]);
    expect(idsOf(await allPages(store, { accountId: payment.accountId, forwardStatus: 'ready' }, 1))).toEqual(
      [payment.id],
    );
    expect(idsOf(await store.search.listUnsettled(payment.accountId, unsettledStatuses, 10))).toEqual([
      payment.id,
    ]);
    expect(await store.search.listUnsettled('another', unsettledStatuses, 10)).toEqual([]);
    await come('paid', 'completed');
    const changes = await store.search.listStateChanges(payment.id);
    expect(changes.map(({ state }) => state).sort()).toEqual(['paid/completed', 'unpaid/ready']);
    expect(changes.every(({ atMs }) => atMs > 0)).toBe(true);
    expect(await store.search.listUnsettled(null, unsettledStatuses, 10)).toEqual([]);
  });
}
