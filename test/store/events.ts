import { expect, it } from 'vitest';
import { atOnce, givePayment, givePayments, newAccount, pay, type StoreContext } from './fixtures.ts';

export function eventPromises(context: StoreContext): void {
  const list = (accountId: string, after = 0, limit = 100) =>
    context.store.events.listEvents(accountId, after, limit);

  it('are numbered by account, from one and without gaps, and survive a restart', async () => {
    const [first, second] = await givePayments(context.store, 2);
    const other = await givePayment(context.store, { accountId: (await giveAccount()).id });
    for (const payment of [first, other, second]) {
      await context.store.payments.decidePayment(payment as never, pay);
    }
    expect((await list(other.accountId)).events).toEqual([]);
    expect(await context.store.events.numberEvents(2)).toBe(2);
    await context.reopen();
    expect(await context.store.events.numberEvents(2)).toBe(1);
    expect(await context.store.events.numberEvents(2)).toBe(0);
    const page = await list(first?.accountId as string);
    expect(page).toMatchObject({ newest: 2, oldestAfter: 0 });
    expect(page.events).toMatchObject([
      { number: 1, type: 'payment.paid', paymentId: first?.id },
      { number: 2, type: 'payment.paid', paymentId: second?.id },
    ]);
    expect((await list(other.accountId)).events).toMatchObject([{ number: 1, paymentId: other.id }]);
  });

  it('are listed after a number, in pages', async () => {
    const payments = await givePayments(context.store, 3);
    for (const payment of payments) await context.store.payments.decidePayment(payment, pay);
    await context.store.events.numberEvents(10);
    const { accountId } = payments[0] as never;
    expect((await list(accountId, 1, 1)).events).toMatchObject([{ number: 2 }]);
    expect((await list(accountId, 3)).events).toEqual([]);
    expect(await list('account_unknown')).toEqual({ events: [], newest: 0, oldestAfter: 0 });
  });

  it('are numbered once, however many number them at once', async () => {
    const payments = await givePayments(context.store, 20);
    await atOnce(20, (index) => context.store.payments.decidePayment(payments[index] as never, pay));
    const counts = await atOnce(5, () => context.store.events.numberEvents(7));
    while ((await context.store.events.numberEvents(7)) > 0);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(20);
    const { events } = await list(payments[0]?.accountId as string);
    expect(events.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(new Set(events.map(({ paymentId }) => paymentId)).size).toBe(20);
  });

  it('are deleted from the oldest on, and the numbers go on', async () => {
    const payments = await givePayments(context.store, 3);
    const accountId = payments[0]?.accountId as string;
    const event = async (index: number) => {
      await context.store.payments.decidePayment(payments[index] as never, pay);
      await context.store.events.numberEvents(10);
    };
    await event(0);
    await event(1);
    const { events } = await list(accountId);
    const secondMs = (events[1]?.atMs as number) + 1;
    expect(await context.store.events.deleteEvents(secondMs, 1)).toBe(1);
    expect(await list(accountId)).toMatchObject({ events: [{ number: 2 }], newest: 2, oldestAfter: 1 });
    await context.store.events.deleteEvents(secondMs, 10);
    expect(await list(accountId)).toEqual({ events: [], newest: 2, oldestAfter: 2 });
    await event(2);
    expect((await list(accountId, 2)).events).toMatchObject([{ number: 3 }]);
  });

  it('are not added by a decision that changes no state', async () => {
    const payment = await givePayment(context.store);
    await context.store.payments.decidePayment(payment, () => ({ change: { note: 'a note' } }));
    expect(await context.store.events.numberEvents(10)).toBe(0);
  });

  async function giveAccount() {
    const account = newAccount();
    await context.store.accounts.createAccount(account);
    return account;
  }
}
