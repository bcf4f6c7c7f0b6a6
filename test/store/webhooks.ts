import { expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { Payment } from '../../src/payment/payment.ts';
import type { Webhook } from '../../src/webhooks/send-webhook.ts';
import { claimOldest, withAnySecret } from '../support/claim-oldest.ts';
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
  const { store } = context;
  const { webhooks } = store;
  async function givePaid(count: number, change: Partial<Payment> = {}): Promise<string[]> {
    const payments = await givePayments(store, count, change);
    for (const payment of payments) await store.payments.decidePayment(payment.id, pay);
    return payments.map(({ id }) => `${id}:payment.paid`);
  }

  async function read(id: string): Promise<Webhook> {
    return (await webhooks.listWebhooks(id.slice(0, 36)))[0] as Webhook;
  }

  it('queues a webhook with the change that pays, to the callback of its payment', async () => {
    const payment = await givePayment(store);
    await store.payments.decidePayment(payment.id, pay);
    const add = ({ webhookSecrets }: Account) => ({ webhookSecrets: [...webhookSecrets, 'sealed'] });
    await Promise.all([add, add].map((change) => store.accounts.updateAccount(payment.accountId, change)));
    await context.reopen();
    const [queued] = await webhooks.listWebhooks(payment.id);
    expect(queued).toEqual({
      ...webhook,
      id: `${payment.id}:payment.paid`,
      accountId: payment.accountId,
      paymentId: payment.id,
      url: payment.callbackUrl,
      host: 'shop.example.com',
      tokenFingerprint: payment.tokenFingerprint,
      sealedSecrets: ['sealed', 'sealed'],
      status: 'pending',
      createdAtMs: expect.any(Number),
      claimedAtMs: null,
      result: null,
    });
    expect(await webhooks.listWebhooks('another')).toEqual([]);
  });

  it('gives each webhook to exactly one of 1,000 claims at once', async () => {
    const ids = await givePaid(300);
    const claims = await atOnce(1_000, (index) =>
      webhooks.claimWebhooks([ids[index % 300] as string], NOW_MS + 1, withAnySecret),
    );
    const claimed = claims.flat();
    expect(claimed.map(({ id }) => id).sort()).toEqual(ids.sort());
    expect(
      claimed.every(({ status, claimedAtMs }) => status === 'sending' && claimedAtMs === NOW_MS + 1),
    ).toBe(true);
    await context.reopen();
    expect(await claimOldest(webhooks, 1_000, NOW_MS)).toEqual([]);
  });

  it('shows of each account the oldest that wait, however many another has, and none to the hosts left out', async () => {
    const callbackUrl = 'https://Other.Example.com.:8443/hook';
    const first = await givePaid(30);
    const second = await givePaid(3);
    const [other] = await givePaid(1, { callbackUrl });
    const idsOf = async (perAccount: number, hosts: string[]) =>
      (await webhooks.listWaitingWebhooks(perAccount, hosts)).map(({ id }) => id).sort();

    expect(await idsOf(2, [])).toEqual([...first.slice(0, 2), ...second.slice(0, 2), other].sort());
    expect(await idsOf(100, ['nobody', 'shop.example.com'])).toEqual([other]);
    expect(await webhooks.listWaitingWebhooks(2, ['shop.example.com'])).toEqual([
      {
        id: other,
        accountId: (await read(other as string)).accountId,
        host: 'other.example.com',
        createdAtMs: expect.any(Number),
      },
    ]);
    await webhooks.claimWebhooks([...first.slice(0, 29), ...second], NOW_MS, withAnySecret);
    expect(await idsOf(2, [])).toEqual([first[29], other].sort());
  });

  it('claims none that was claimed before, is unknown, or was not asked for', async () => {
    const [one, two] = (await givePaid(2)) as [string, string];
    expect(await webhooks.claimWebhooks([], NOW_MS, withAnySecret)).toEqual([]);
    expect(await webhooks.claimWebhooks(['nobody', one], NOW_MS, withAnySecret)).toHaveLength(1);
    expect((await webhooks.claimWebhooks([one, two], NOW_MS, withAnySecret)).map(({ id }) => id)).toEqual([
      two,
    ]);
  });

  it('claims those whose secret is known, and older ones with any', async () => {
    const [known] = (await givePaid(1, { tokenFingerprint: 'aaaaaa' })) as [string];
    const [unknown] = (await givePaid(1, { tokenFingerprint: 'bbbbbb' })) as [string];
    const { createdAtMs } = await read(unknown);
    const claim = async (fingerprints: string[], anyCreatedBeforeMs: number) => {
      const claimed = await webhooks.claimWebhooks([known, unknown], NOW_MS, {
        fingerprints,
        anyCreatedBeforeMs,
      });
      return claimed.map(({ id }) => id);
    };
    expect(await claim([], 0)).toEqual([]);
    expect(await claim(['cccccc', 'aaaaaa'], createdAtMs)).toEqual([known]);
    expect(await claim(['aaaaaa'], createdAtMs)).toEqual([]);
    expect(await claim(['aaaaaa'], createdAtMs + 1)).toEqual([unknown]);
  });

  it('keeps how the one attempt ended, once', async () => {
    const [id] = (await givePaid(1)) as [string];
    const stored = await read(id);
    await expect(webhooks.recordWebhookResult(stored, failedResult)).rejects.toThrow();
    await claimOldest(webhooks, 1, NOW_MS);
    await webhooks.recordWebhookResult(stored, failedResult);
    await expect(
      webhooks.recordWebhookResult(stored, { ...failedResult, outcome: 'delivered' }),
    ).rejects.toThrow();
    expect(await read(id)).toMatchObject({ status: 'failed', result: failedResult });
  });

  it('gives up what was being sent before a time, unless its result comes late after a jump of the clock', async () => {
    const [stale, fresh, pending] = (await givePaid(3)) as [string, string, string];
    await claimOldest(webhooks, 1, NOW_MS - 1);
    await claimOldest(webhooks, 1, NOW_MS);
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
    expect((await claimOldest(webhooks, 10, NOW_MS)).map(({ id }) => id)).toEqual([pending]);
    await webhooks.recordWebhookResult(await read(stale), failedResult);
    expect(await read(stale)).toMatchObject({ status: 'failed', result: failedResult });
    expect(await claimOldest(webhooks, 10, NOW_MS)).toEqual([]);
    await expect(webhooks.recordWebhookResult(await read(stale), failedResult)).rejects.toThrow();
  });
}
