import { expect, it } from 'vitest';
import type { Store } from '../../src/app/store/store.ts';
import { type DisplayStatus, displayStatuses, displayStatusOf } from '../../src/payment/display-status.ts';
import type { Payment, PaymentId } from '../../src/payment/payment.ts';
import { firstIdAtMs, receiptNumberOf, shortCodeOf } from '../../src/payment/payment-id.ts';
import { type PaymentQuery, parsePaymentSearch } from '../../src/payment/payment-search.ts';
import {
  refusedStatuses,
  type UnsettledStatus,
  unsettledStatuses,
} from '../../src/payment/payment-states.ts';
import {
  DAY_MS,
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
  while ((await store.search.indexPayments(100)) > 0);
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
  const { store } = context;
  const { observations } = store;
  it('lists each payment under the one status that the dashboard shows', async () => {
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
    const { search } = store;
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

  it('pages through an account’s payments newest first, each once', async () => {
    const [first] = await givePayments(store, 1);
    const [other] = await givePayments(store, 1);
    const accounts = [first?.accountId as string, other?.accountId as string] as const;
    const more = Array.from({ length: 2_300 }, (_, index) =>
      newPayment(index % 400 === 0 ? accounts[0] : accounts[1], {
        provider: index % 2 === 0 ? 'moonpay' : 'multi',
        currency: index % 3 === 0 ? 'INR' : 'EUR',
      }),
    );
    await Promise.all(more.map((payment) => store.payments.createPayment(payment, null)));

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
      expect(idsOf(await allPages(store, query, size))).toEqual(idsOf(wanted));
    }
  });

  it('lists what was created from one moment on and before another', async () => {
    const payments = await givePayments(store, 3);
    const accountId = payments[0]?.accountId as string;
    const old = newPayment(accountId, { id: `${firstIdAtMs(NOW_MS - 60_000)}-7000-8000-000000000000` });
    await store.payments.createPayment(old, null);
    const list = (query: Partial<PaymentQuery>) => allPages(store, { accountId, ...query }, 2);
    expect(idsOf(await list({ beforeMs: NOW_MS - 1 }))).toEqual([old.id]);
    expect(idsOf(await list({ fromMs: NOW_MS - 1 }))).toEqual(idsOf([...payments].reverse()));
    expect(idsOf(await list({ fromMs: NOW_MS - 60_001, beforeMs: NOW_MS - 59_999 }))).toEqual([old.id]);
    expect(await list({ fromMs: NOW_MS + 3_600_000 })).toEqual([]);
  });

  it('lists what was paid from one moment on and before another', async () => {
    const payments = await givePayments(store, 5);
    const accountId = payments[0]?.accountId as string;
    // The index has periods of 30 days; the newest payment stays unpaid.
    const daysAfter = [0, 30, 31, 61];
    for (const [index, days] of daysAfter.entries()) {
      await store.payments.decidePayment((payments[index] as Payment).id, (view) => ({
        ...pay(view),
        change: { ...pay(view)?.change, paidAtMs: NOW_MS + days * DAY_MS },
      }));
    }
    const paidFrom = async (fromDays: number, beforeDays: number, more: Partial<PaymentQuery> = {}) => {
      const paid = { fromMs: NOW_MS + fromDays * DAY_MS, beforeMs: NOW_MS + beforeDays * DAY_MS };
      return idsOf(await allPages(store, { accountId, paid, ...more }, 1));
    };
    expect(await paidFrom(0, 61)).toEqual(idsOf(payments.slice(0, 3).reverse()));
    expect(await paidFrom(30, 31)).toEqual([payments[1]?.id]);
    expect(await paidFrom(61, 90)).toEqual([payments[3]?.id]);
    expect(await paidFrom(-40, 0)).toEqual([]);
    expect(await paidFrom(-40, 90, { status: 'unpaid' })).toEqual([]);
  });

  it('finds an account’s payment at once, and no other’s, by id, short code, receipt number, link, email, note, order line, amount and transaction', async () => {
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
    await observations.startCursor(block(10));
    const release = { ...releaseOf(payment, 12), transactionHash: `0x${'ab'.repeat(32)}` };
    const deposit = { ...depositOf(payment, 11), transactionHash: `0x${'cd'.repeat(32)}` };
    await observations.recordScan(scan(10, 12, 13, { deposits: [deposit], releases: [release] }), leave);

    for (const isIndexed of [false, true]) {
      if (isIndexed) await indexAll(store);
      for (const text of [
        id,
        id.toUpperCase(),
        shortCodeOf(id),
        receiptNumberOf(id),
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
        '1٫234',
        '1。234',
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
    }
  });

  it('finds one payment by the beginning of a word that thousands share with it', async () => {
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
    const { accountId, id } = await givePayment(store, { note: 'blue shoes', email: 'a@example.com' });
    const find = async (text: string) => idsOf(await allPages(store, searched(accountId, text), 10));
    expect((await store.search.editNote({ accountId, id }, 'blue hat'))?.note).toBe('blue hat');
    expect(await find('hat')).toEqual([id]);
    await indexAll(store);
    expect(await store.search.editNote({ accountId, id }, 'red hat')).toMatchObject({ id, note: 'red hat' });
    expect(await find('blue')).toEqual([]);
    expect(await find('red hat')).toEqual([id]);
    await indexAll(store);
    expect(await find('red hat')).toEqual([id]);
    expect(await find('a@example.com')).toEqual([id]);
    await store.search.editNote({ accountId, id }, null);
    expect(await find('red')).toEqual([]);
    expect((await store.payments.findPayment(accountId, id))?.note).toBeNull();
    expect(await store.search.editNote({ accountId: 'another', id }, 'stolen')).toBeNull();
    expect((await store.payments.findPaymentById(id))?.note).toBeNull();
  });

  it('lists what needs a hand, and sees it behind any number of newer payments under way', async () => {
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
