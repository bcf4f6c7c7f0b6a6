import type { Payment, PaymentChange } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { Decide, PaymentView } from '../../domain/ports/payment-store.ts';
import type { RelayBatch } from '../../domain/ports/relay-store.ts';
import { RETRY_AFTER_ABANDONED_MS, retryDelayMs } from '../../domain/release-delays.ts';
import { settle, sumLedger } from '../../domain/settle.ts';
import type { RelayContext } from './relay-context.ts';

/**
 * Closes a batch whose nonce is spent for good. Until the watcher has seen all blocks up to `finalBlock`, and so what
 * the transaction did, it does nothing and returns false.
 */
export async function resolveBatch(
  context: RelayContext,
  batch: RelayBatch,
  finalBlock: number,
): Promise<boolean> {
  const cursor = await context.ledger.readCursor();
  if (cursor === null || cursor.number < finalBlock) return false;
  const nowMs = context.nowMs();
  const isMined =
    batch.kind === 'rescue' || (await context.relayer.isAnyMined(batch.attempts.map(({ hash }) => hash)));
  const unreleased = new Set<PaymentId>();
  await closeBatch(context, batch, 'resolved', ({ payment, ledger }) => {
    const isReleased = ledger.releases.some(({ transactionHash }) =>
      batch.attempts.some(({ hash }) => hash === transactionHash),
    );
    // What is held although we released came later, or was released by a rival: it is due at once.
    if (isReleased || sumLedger(ledger).heldUnits === 0n) {
      return { fruitlessBatches: 0, releaseDueAtMs: null };
    }
    unreleased.add(payment.id);
    // Another transaction took the nonce: that says nothing against the payment, and no gas was spent on it.
    if (!isMined) return { releaseDueAtMs: nowMs + RETRY_AFTER_ABANDONED_MS };
    return afterFruitlessBatch(payment, nowMs);
  });
  if (unreleased.size > 0) {
    const kind = isMined ? 'fruitless_batch' : 'displaced_batch';
    context.onIncident({ kind, batchId: batch.id, paymentIds: [...unreleased] });
  }
  return true;
}

/** Gives up a batch that will not be mined. Should it be mined after all, it moves nothing that was released since. */
export async function abandonBatch(context: RelayContext, batch: RelayBatch): Promise<void> {
  const releaseDueAtMs = context.nowMs() + RETRY_AFTER_ABANDONED_MS;
  await closeBatch(context, batch, 'abandoned', () => ({ releaseDueAtMs }));
}

/** Gas was spent and nothing released. That says nothing of why, so the state stays; but gas is not burnt in a loop. */
function afterFruitlessBatch(payment: Payment, nowMs: number): PaymentChange {
  const fruitlessBatches = payment.fruitlessBatches + 1;
  return { fruitlessBatches, releaseDueAtMs: nowMs + retryDelayMs(fruitlessBatches) };
}

async function closeBatch(
  context: RelayContext,
  batch: RelayBatch,
  outcome: 'resolved' | 'abandoned',
  changeOf: (view: PaymentView) => PaymentChange,
): Promise<void> {
  const nowMs = context.nowMs();
  // A rescue carries no release: nothing of its payment changes.
  const decide: Decide = (view) =>
    settle(view, { nowMs, expiredBeforeMs: null }, batch.kind === 'forward' ? changeOf(view) : {});
  await context.relay.closeBatch(batch.id, outcome, nowMs, decide);
  context.memory.firstSeenMs.delete(batch.id);
}
