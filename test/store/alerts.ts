import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { atOnce, failedResult, givePayments, leave, pay, type StoreContext } from './fixtures.ts';

export function troublePromises(context: StoreContext): void {
  const { store } = context;
  const { webhooks, alerts } = store;
  const claim = (notifiedBeforeMs: number, nowMs: number) => alerts.claimAlerts(notifiedBeforeMs, 10, nowMs);

  async function failWebhooks(finishedAtMs: readonly number[]): Promise<string> {
    const payments = await givePayments(store, finishedAtMs.length);
    for (const [index, payment] of payments.entries()) {
      await store.payments.decidePayment(payment.id, pay);
      const [claimed] = await claimOldest(webhooks, 1, 1);
      const result = { ...failedResult, finishedAtMs: finishedAtMs[index] as number };
      await webhooks.recordWebhookResult(claimed as never, result);
    }
    return payments[0]?.accountId as string;
  }

  it('is counted by account and kind once, from where it was counted to, and not what is too old', async () => {
    await alerts.recordAlerts(0, 100);
    const accountId = await failWebhooks([90, 110, 120, 300]);
    await alerts.recordAlerts(115, 200);
    await context.reopen();
    await alerts.recordAlerts(0, 200);
    expect(await claim(1, 1_000)).toEqual([
      { accountId, kind: 'webhooks', count: 1, sinceMs: 120, notifiedAtMs: 0 },
    ]);
    await alerts.recordAlerts(0, 400);
    expect(await claim(1_000, 2_000)).toEqual([]);
    expect(await claim(1_001, 2_000)).toEqual([
      { accountId, kind: 'webhooks', count: 1, sinceMs: 300, notifiedAtMs: 1_000 },
    ]);
  });

  it('is claimed by one, and waits again where nobody was told', async () => {
    await alerts.recordAlerts(0, 100);
    await failWebhooks([150, 160]);
    await alerts.recordAlerts(0, 200);
    const claimed = (await atOnce(5, () => claim(1, 1_000))).flat();
    expect(claimed).toHaveLength(1);
    await alerts.returnAlert(claimed[0] as never);
    expect(await claim(1, 2_000)).toEqual(claimed);
  });

  it('is also a payment that needs a hand', async () => {
    const { payments } = store;
    await alerts.recordAlerts(0, 100);
    const [payment, calm] = await givePayments(store, 2);
    const change = { status: 'canceled', forwardStatus: 'manual_required' } as const;
    await payments.decidePayment((payment as Payment).id, () => ({ change }));
    await payments.decidePayment((calm as Payment).id, leave);
    await alerts.recordAlerts(0, Date.now() + 60_000);
    expect(await claim(1, 1_000)).toMatchObject([
      { accountId: payment?.accountId, kind: 'payments', count: 1 },
    ]);
  });
}
