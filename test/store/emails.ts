import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { parsePaymentSearch } from '../../src/payment/payment-search.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import {
  DAY_MS,
  failedResult,
  givePayment,
  givePayments,
  leave,
  NOW_MS,
  newAccount,
  newPayment,
  newSession,
  type StoreContext,
  webhook,
} from './fixtures.ts';

const EMAIL = 'jane.doe@example.com';

export function emailPromises(context: StoreContext): void {
  const { store } = context;
  const { accounts, webhooks, emails } = store;
  const indexAll = async () => {
    while ((await store.search.indexPayments(100)) > 0);
  };
  const payWithEmail = (payment: Payment) =>
    store.payments.decidePayment(payment.id, ({ payment: { email } }) => ({
      change: { status: 'paid', forwardStatus: 'completed', paidAtMs: 1 },
      webhooks: [{ ...webhook, fields: { ...webhook.fields, email } }],
    }));
  const found = async ({ accountId }: Payment, text: string) => {
    const search = parsePaymentSearch(text);
    if (search === null) throw new Error('nothing to search for');
    return (await store.search.searchPayments({ accountId, search }, null, 10)).payments.map(({ id }) => id);
  };
  const webhookOf = async ({ id }: Payment) => (await webhooks.listWebhooks(id))[0];

  it('takes an address from payment, search, sessions and a webhook that was sent', async () => {
    const payment = await givePayment(store, { email: EMAIL, note: 'Blue hat' });
    const redirectUrl = `https://ramp.example/buy?email=${encodeURIComponent(EMAIL)}`;
    await store.payments.addSession(
      newSession(payment, { redirectUrl, customerIpHash: 'hash of an address' }),
      leave,
    );
    await payWithEmail(payment);
    const [claimed] = await claimOldest(webhooks, 1, 1);
    const body = JSON.stringify({ ...claimed?.fields, timestamp: 'then' });
    await webhooks.recordWebhookResult(claimed as never, {
      ...failedResult,
      body,
      signature: 'of the body',
      responseExcerpt: `no such customer: ${EMAIL.toUpperCase()}, ${EMAIL}`,
    });
    await indexAll();
    expect(await found(payment, EMAIL)).toEqual([payment.id]);

    expect(await emails.eraseEmail(payment)).toBe('erased');
    await context.reopen();
    const view = await store.payments.viewPayment(payment.id);
    expect(view?.payment).toMatchObject({ email: null, note: 'Blue hat', status: 'paid' });
    expect(view?.sessions).toMatchObject([{ redirectUrl: '', customerIpHash: null }]);
    expect(await found(payment, EMAIL)).toEqual([]);
    expect(await found(payment, 'hat')).toEqual([payment.id]);
    const sent = await webhookOf(payment);
    expect(JSON.parse(sent?.result?.body ?? '')).toEqual({ ...JSON.parse(body), email: '[erased]' });
    expect(sent?.result).toMatchObject({
      signature: 'of the body',
      responseExcerpt: 'no such customer: [erased], [erased]',
    });
    const everything = JSON.stringify([view, sent], (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(everything).not.toMatch(/jane\.doe/i);
    expect(await emails.eraseEmail(payment)).toBe('none');
  });

  it('sends a webhook that waits as one of a payment without an address, and waits for one that is being sent', async () => {
    const [waiting, sending] = (await givePayments(store, 2, { email: EMAIL })) as [Payment, Payment];
    await payWithEmail(sending);
    const [claimed] = await claimOldest(webhooks, 1, 1);
    await payWithEmail(waiting);
    expect(await emails.eraseEmail(waiting)).toBe('erased');
    expect((await webhookOf(waiting))?.fields['email']).toBeNull();
    expect(await emails.eraseEmail(sending)).toBe('busy');
    expect((await store.payments.findPayment(sending.accountId, sending.id))?.email).toBe(EMAIL);
    await webhooks.recordWebhookResult(claimed as never, { ...failedResult, body: null });
    expect(await emails.eraseEmail(sending)).toBe('erased');
  });

  it('goes through the old payments of one account, some at a time, and leaves the new ones', async () => {
    const [account, other] = [newAccount(), newAccount()];
    for (const each of [account, other]) await accounts.createAccount(each);
    const made = [];
    for (const ageDays of [40, 35, 31, 5]) {
      const createdAtMs = NOW_MS - ageDays * DAY_MS;
      const createId = createPaymentIdGenerator(() => createdAtMs);
      for (const { id: accountId } of [account, other]) {
        const payment = newPayment(accountId, { id: createId(), createdAtMs, email: EMAIL });
        await store.payments.createPayment(payment, null);
        if (accountId === account.id) made.push(payment);
      }
    }
    const step = (days: number) => emails.eraseEmailsBefore(account.id, NOW_MS - days * DAY_MS, 2);
    const left = async () => {
      const payments = await store.payments.listPayments({ accountId: account.id }, null, 10);
      return payments.filter(({ email }) => email !== null).map(({ id }) => id);
    };
    expect(await step(30)).toEqual({ erased: 2, hasMore: true, stoppedBy: null });
    await context.reopen();
    expect(await step(30)).toEqual({ erased: 1, hasMore: false, stoppedBy: null });
    expect(await step(30)).toEqual({ erased: 0, hasMore: false, stoppedBy: null });
    expect(await left()).toEqual([made[3]?.id]);
    expect(await step(1)).toEqual({ erased: 1, hasMore: false, stoppedBy: null });
    const others = await store.payments.listPayments({ accountId: other.id }, null, 10);
    expect(others.every(({ email }) => email === EMAIL)).toBe(true);
  });
}
