import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { settleScanned } from '../../src/payment/settle.ts';
import { waitFor } from '../support/wait-for.ts';
import { DAY_MS, givePayments, NOW_MS, pay, type StoreContext } from './fixtures.ts';
import { newChannel } from './notifications.ts';
import { block, depositOf, releaseOf, scan } from './observations.ts';
import { giveMember } from './people.ts';

/** A height between the blocks in which the payments below are released. */
const RESTORED_AT = 20;

export function restorePromises(context: StoreContext): void {
  const { store } = context;
  const { restores, observations, payments, webhooks, receipts, events, notifications } = store;
  const decide = (view: Parameters<typeof settleScanned>[0]) => settleScanned(view, { nowMs: NOW_MS });
  /** Seen and released in the same block, half of the price each time. */
  const halfIn = (payment: Payment, blockNumber: number) => ({
    deposits: [{ ...depositOf(payment, blockNumber), units: 52_000_001n }],
    releases: [{ ...releaseOf(payment, blockNumber), toMerchantUnits: 52_000_001n, feeUnits: 0n }],
  });
  const wholeIn = (payment: Payment, blockNumber: number) => ({
    deposits: [depositOf(payment, blockNumber, 0, 105_000_000n)],
    releases: [{ ...releaseOf(payment, blockNumber), toMerchantUnits: 105_000_000n }],
  });
  const sentOf = async (payment: Payment) => {
    const [webhook] = await webhooks.listWebhooks(payment.id);
    return `${webhook?.status} ${webhook?.result?.reason}, mail ${await receipts.findReceiptStatus(payment.id)}`;
  };

  it('record what was due before them as unknown, and nothing that is due later', async () => {
    const [waiting, early, halved, half, late] = (await givePayments(store, 5)) as [
      Payment,
      Payment,
      Payment,
      Payment,
      Payment,
    ];
    const { id: userId } = await giveMember(store, early.accountId, 'viewer');
    const channel = newChannel(early.accountId, userId, { dailyDueAtMs: NOW_MS });
    await notifications.addChannel(channel);
    const countNews = async (readThrough: number) => {
      await events.numberEvents(100);
      const news = await notifications.readNews({ ...channel, readThrough }, 10);
      return [news.counts.get('paid') ?? 0, news.through] as const;
    };
    await observations.startCursor(block(10));
    await payments.decidePayment(waiting.id, pay);
    expect(await restores.isPending()).toBe(false);
    await restores.markRestored();
    await context.reopen();
    expect(await restores.isPending()).toBe(true);
    for (const height of [RESTORED_AT, 90]) await restores.recordHeight(height, NOW_MS - DAY_MS);
    expect(await restores.isPending()).toBe(false);
    expect((await notifications.listChannels(early.accountId, userId))[0]?.dailyDueAtMs).toBeGreaterThan(
      Date.now(),
    );

    const rows = [wholeIn(early, 12), halfIn(halved, 13), halfIn(halved, 14), halfIn(half, 15)];
    const scanned = (found: typeof rows) => ({
      deposits: found.flatMap(({ deposits }) => deposits),
      releases: found.flatMap(({ releases }) => releases),
    });
    await observations.recordScan(scan(10, 15, 15, scanned(rows)), decide);
    const [ofCatchUp, through] = await countNews(0);
    await observations.recordScan(scan(15, 20, 20), decide);
    // Events count as news from the millisecond after the catch-up.
    const caughtUpMs = Date.now();
    await waitFor('the next millisecond', 1_000, async () => Date.now() > caughtUpMs);
    await observations.recordScan(scan(20, 30, 30, scanned([halfIn(half, 25), wholeIn(late, 26)])), decide);
    for (const payment of [waiting, early, halved])
      expect(await sentOf(payment)).toBe('unknown restored, mail failed');
    for (const payment of [half, late]) expect(await sentOf(payment)).toBe('pending undefined, mail pending');
    const [later] = await countNews(through);
    expect([ofCatchUp, later]).toEqual([0, 2]);
    expect((await payments.findPaymentById(halved.id))?.status).toBe('paid');
  });
}
