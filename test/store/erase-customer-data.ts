import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { createPaymentIdGenerator } from '../../src/payment/payment-id.ts';
import { parsePaymentSearch } from '../../src/payment/payment-search.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import type { Webhook } from '../../src/webhooks/send-webhook.ts';
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

    expect(await emails.eraseEmail({ ...payment, accountId: 'another' })).toBe('unknown');
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
    await indexAll();
    expect(await found(sending, EMAIL)).toEqual([]);
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

  it('erases in all accounts what old payments keep of customers, over restarts, and changes nothing else', async () => {
    const accountIds = [newAccount(), newAccount()].map((account) => account.id);
    for (const id of accountIds) await accounts.createAccount(newAccount({ id }));
    const drawn = fc.sample(
      fc.record({
        ageDays: fc.integer({ min: 1, max: 80 }),
        accountId: fc.constantFrom(...accountIds),
        note: fc.option(fc.constant('For Mary')),
        metadata: fc.option(fc.constant({ name: 'Jane' })),
        session: fc.boolean(),
        webhook: fc.constantFrom('none', 'waiting', 'sent'),
      }),
      30,
    );
    const drafts = drawn.toSorted((one, other) => other.ageDays - one.ageDays);
    const payments = drafts.map(({ ageDays, webhook: sent, accountId, note, metadata }, index) => {
      const createdAtMs = NOW_MS - ageDays * DAY_MS + index;
      const id = createPaymentIdGenerator(() => createdAtMs)();
      const email = sent === 'waiting' || index % 3 === 0 ? null : EMAIL;
      return newPayment(accountId, { id, createdAtMs, email, note, metadata });
    });
    const payAll = async (which: string) => {
      for (const [index, payment] of payments.entries())
        if (drafts[index]?.webhook === which) await payWithEmail(payment);
    };
    const sendAll = async () => {
      for (const each of await claimOldest(webhooks, 100, 1))
        await webhooks.recordWebhookResult(each, {
          ...failedResult,
          body: '{"note":"For Mary"}',
          signature: 's',
        });
    };
    for (const [index, payment] of payments.entries()) {
      await store.payments.createPayment(payment, null);
      const session = newSession(payment, { customerIpHash: 'hash of an address' });
      if (drafts[index]?.session === true) await store.payments.addSession(session, leave);
    }
    await payAll('sent');
    await sendAll();
    await payAll('waiting');
    await indexAll();
    type Kept = { view: PaymentView; sent: readonly Webhook[] };
    const readAll = () =>
      Promise.all(
        payments.map(
          async ({ id }): Promise<Kept> => ({
            view: (await store.payments.viewPayment(id)) as PaymentView,
            sent: await webhooks.listWebhooks(id),
          }),
        ),
      );
    const erased = ({ view, sent }: Kept) => ({
      view: {
        ...view,
        payment: { ...view.payment, email: null, note: null, metadata: null },
        sessions: view.sessions.map((each) => ({ ...each, redirectUrl: '', customerIpHash: null })),
      },
      sent: sent.map((each) => ({
        ...each,
        fields: { ...each.fields, note: null, ...(each.fields['email'] !== null && { email: '[erased]' }) },
        result: { ...each.result, body: null, signature: null, responseExcerpt: '' },
      })),
    });
    const run = async (): Promise<void> => {
      const step = await emails.eraseEmailsBefore(null, NOW_MS - 30 * DAY_MS, 4);
      await context.reopen();
      if (step.hasMore) await run();
    };
    const old = drafts.filter(({ ageDays }) => ageDays > 30).length;
    const waiting = drafts.findIndex(({ webhook: which }) => which === 'waiting');
    const stop = waiting === -1 ? old : Math.min(waiting, old);
    let before = await readAll();
    await run();
    expect(await readAll()).toEqual(before.map((kept, index) => (index < stop ? erased(kept) : kept)));
    await sendAll();
    before = await readAll();
    await run();
    expect(await readAll()).toEqual(before.map((kept, index) => (index < old ? erased(kept) : kept)));
    await indexAll();
    const [first] = payments as [Payment];
    const isFound = ({ accountId, note }: Payment) => accountId === first.accountId && note !== null;
    const kept = payments.slice(old).filter(isFound);
    expect((await found(first, 'Mary')).toSorted()).toEqual(kept.slice(-10).map(({ id }) => id));
  });
}
