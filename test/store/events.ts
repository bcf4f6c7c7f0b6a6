import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { atOnce, giveAccount, givePayment, givePayments, pay, type StoreContext } from './fixtures.ts';

export function eventPromises(context: StoreContext): void {
  const { store } = context;
  const list = (accountId: string, after = 0, limit = 100) =>
    store.events.listEvents(accountId, after, limit);

  const numbersOf = async (accountId: string) => (await list(accountId)).events.map(({ number }) => number);

  it('are numbered in their order, by account, and survive a restart', async () => {
    const [first, second] = await givePayments(store, 2);
    const other = await givePayment(store, { accountId: (await giveAccount(store)).id });
    for (const payment of [first, other, second]) {
      await store.payments.decidePayment((payment as Payment).id, pay);
    }
    expect((await list(other.accountId)).events).toEqual([]);
    expect(await store.events.numberEvents(2)).toBe(2);
    await context.reopen();
    expect(await store.events.numberEvents(2)).toBe(1);
    expect(await store.events.numberEvents(2)).toBe(0);
    const page = await list(first?.accountId as string);
    expect(page).toMatchObject({ newest: page.events[1]?.number, oldestAfter: 0 });
    expect(page.events).toMatchObject([
      { type: 'payment.paid', paymentId: first?.id },
      { type: 'payment.paid', paymentId: second?.id },
    ]);
    expect((await list(other.accountId)).events).toMatchObject([{ paymentId: other.id }]);
  });

  it('have the time as their number, or one above the last, whatever the clock does', async () => {
    const payments = await givePayments(store, 4);
    const accountId = payments[0]?.accountId as string;
    const payAndNumber = async (chosen: typeof payments) => {
      for (const payment of chosen) await store.payments.decidePayment(payment.id, pay);
      await store.events.numberEvents(10);
    };
    const startedAtMs = Date.now();
    await payAndNumber(payments.slice(0, 2));
    const [first = 0, second] = await numbersOf(accountId);
    expect(first).toBeGreaterThanOrEqual(startedAtMs);
    expect(first).toBeLessThanOrEqual(Date.now());
    expect(second).toBe(first + 1);
    // The clock was ahead by an hour, and is right again.
    await context.change(`UPDATE event_numbers SET newest = ${first + 3_600_000}`);
    await payAndNumber(payments.slice(2, 3));
    // The database has numbers of before, as those of an earlier version.
    await context.change('UPDATE event_numbers SET newest = 2');
    await payAndNumber(payments.slice(3));
    const later = await numbersOf(accountId);
    expect(later).toHaveLength(4);
    expect(later[3]).toBe(first + 3_600_001);
    expect(later[2]).toBeGreaterThan(second as number);
    expect(later[2]).toBeLessThanOrEqual(Date.now());
  });

  it('are numbered once, however many number them at once', async () => {
    const payments = await givePayments(store, 20);
    await atOnce(20, (index) => store.payments.decidePayment((payments[index] as Payment).id, pay));
    const counts = await atOnce(5, () => store.events.numberEvents(7));
    while ((await store.events.numberEvents(7)) > 0);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20);
    const { events } = await list(payments[0]?.accountId as string);
    expect(new Set(events.map(({ number }) => number)).size).toBe(20);
    expect(new Set(events.map(({ paymentId }) => paymentId)).size).toBe(20);
  });

  it('are deleted from the oldest on, and the numbers go on', async () => {
    const payments = await givePayments(store, 3);
    const accountId = payments[0]?.accountId as string;
    const event = async (index: number) => {
      await store.payments.decidePayment((payments[index] as Payment).id, pay);
      await store.events.numberEvents(10);
    };
    await event(0);
    await event(1);
    const { events } = await list(accountId);
    const secondMs = (events[1]?.atMs as number) + 1;
    expect(await store.events.deleteEvents(secondMs, 1)).toBe(1);
    const [first, second] = events.map(({ number }) => number);
    expect(await list(accountId)).toMatchObject({
      events: [{ number: second }],
      newest: second,
      oldestAfter: first,
    });
    await store.events.deleteEvents(secondMs, 10);
    expect(await list(accountId)).toEqual({ events: [], newest: second, oldestAfter: second });
    await event(2);
    // A reader of all that was deleted has missed nothing.
    const later = await list(accountId, second);
    expect(later).toMatchObject({ events: [{ paymentId: payments[2]?.id }], oldestAfter: second });
    expect(later.newest).toBeGreaterThan(second as number);
  });
}
