import { expect, it } from 'vitest';
import type { Webhook } from '../../src/domain/webhook.ts';
import {
  atOnce,
  failedResult,
  givePayment,
  givePayments,
  NOW_MS,
  pay,
  type StoreContext,
  webhook,
} from './fixtures.ts';

export function webhookPromises(context: StoreContext): void {
  async function givePaid(count: number): Promise<string[]> {
    const payments = await givePayments(context.store, count);
    for (const payment of payments) await context.store.payments.decidePayment(payment, pay);
    return payments.map(({ id }) => `${id}:payment.paid`);
  }

  async function read(id: string): Promise<Webhook> {
    return (await context.store.webhooks.listWebhooks(id.slice(0, 36)))[0] as Webhook;
  }

  it('queues a webhook with the change that pays, to the callback of its payment', async () => {
    const payment = await givePayment(context.store);
    await context.store.payments.decidePayment(payment, pay);
    await context.reopen();
    const [queued] = await context.store.webhooks.listWebhooks(payment.id);
    expect(queued).toEqual({
      ...webhook,
      id: `${payment.id}:payment.paid`,
      accountId: payment.accountId,
      paymentId: payment.id,
      url: payment.callbackUrl,
      tokenFingerprint: payment.tokenFingerprint,
      status: 'pending',
      createdAtMs: expect.any(Number),
      claimedAtMs: null,
      result: null,
    });
    expect(await context.store.webhooks.listWebhooks('another')).toEqual([]);
  });

  it('gives each webhook to exactly one of 1,000 claims at once', async () => {
    const ids = await givePaid(300);
    const claims = await atOnce(1_000, () => context.store.webhooks.claimWebhooks(1, NOW_MS + 1));
    const claimed = claims.flat();
    expect(claimed.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(
      claimed.every(({ status, claimedAtMs }) => status === 'sending' && claimedAtMs === NOW_MS + 1),
    ).toBe(true);
    await context.reopen();
    expect(await context.store.webhooks.claimWebhooks(1_000, NOW_MS)).toEqual([]);
  });

  it('claims the oldest first', async () => {
    const ids = await givePaid(5);
    expect((await context.store.webhooks.claimWebhooks(2, NOW_MS)).map(({ id }) => id)).toEqual(
      ids.slice(0, 2),
    );
    expect((await context.store.webhooks.claimWebhooks(10, NOW_MS)).map(({ id }) => id)).toEqual(
      ids.slice(2),
    );
  });

  it('keeps how the one attempt ended, once', async () => {
    const [id] = (await givePaid(1)) as [string];
    const { webhooks } = context.store;
    const stored = await read(id);
    await expect(webhooks.recordWebhookResult(stored, failedResult)).rejects.toThrow();
    await webhooks.claimWebhooks(1, NOW_MS);
    await expect(
      webhooks.recordWebhookResult({ ...stored, accountId: 'another' }, failedResult),
    ).rejects.toThrow();
    await webhooks.recordWebhookResult(stored, failedResult);
    await expect(
      webhooks.recordWebhookResult(stored, { ...failedResult, outcome: 'delivered' }),
    ).rejects.toThrow();
    expect(await read(id)).toMatchObject({ status: 'failed', result: failedResult });
  });

  it('gives up what was being sent before a time, for good', async () => {
    const [stale, fresh, pending] = (await givePaid(3)) as [string, string, string];
    const { webhooks } = context.store;
    await webhooks.claimWebhooks(1, NOW_MS - 1);
    await webhooks.claimWebhooks(1, NOW_MS);
    expect(await webhooks.abandonStaleWebhooks(NOW_MS)).toBe(1);
    expect(await webhooks.abandonStaleWebhooks(NOW_MS)).toBe(0);
    expect(await read(stale)).toMatchObject({
      status: 'unknown',
      result: {
        outcome: 'unknown',
        reason: 'interrupted',
        httpStatus: null,
        body: null,
        responseExcerpt: '',
      },
    });
    expect(await read(fresh)).toMatchObject({ status: 'sending', result: null });
    expect((await webhooks.claimWebhooks(10, NOW_MS)).map(({ id }) => id)).toEqual([pending]);
    await expect(webhooks.recordWebhookResult(await read(stale), failedResult)).rejects.toThrow();
    expect(await read(stale)).toMatchObject({ status: 'unknown' });
  });
}
