import type { PaymentId } from '../payment/payment.ts';
import { firstIdAtMs } from '../payment/payment-id.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import { settle, sumObservations } from '../payment/settle.ts';
import type { SweepBalances } from './chain/chain.ts';
import { findUnexplained } from './compare-balances.ts';
import type { BlockReference, ObservationStore } from './settlement-store.ts';

export interface ExpirePaymentsContext
  extends Readonly<{ payments: PaymentStore; observations: ObservationStore }> {
  readonly sweep: SweepBalances;
  /** Newest block of the second reading at another host; null before the first one. */
  readonly rescannedTo: () => BlockReference | null;
  readonly nowMs: () => number;
  readonly expiryMs: number;
}

export interface ExpiryPass {
  readonly checked: number;
  /** Past their deadline but not expired, because their addresses hold money that was not observed. */
  readonly unexplained: readonly PaymentId[];
}

const BATCH_SIZE = 500;
const NOTHING: ExpiryPass = { checked: 0, unexplained: [] };

/**
 * Cancels payments past their deadline, oldest first. Nothing expires on one reading, because a node may leave events
 * out: blocks up to the deadline must have been read at another host too, and the balance must match. The balance alone
 * is not enough: it is also zero where a deposit and its release were both left out.
 */
export async function expirePayments(context: ExpirePaymentsContext): Promise<ExpiryPass> {
  const cursor = await context.observations.readCursor();
  const rescannedTo = context.rescannedTo();
  if (cursor === null || rescannedTo === null) return NOTHING;
  const readUpToMs = Math.min(cursor.timestampMs, rescannedTo.timestampMs);
  const expiredBeforeMs = Math.min(readUpToMs, context.nowMs()) - context.expiryMs;
  const from = await context.observations.readExpiryWatermark();
  const ids = await context.payments.listPaymentIds(from, firstIdAtMs(expiredBeforeMs), BATCH_SIZE);
  const to = ids.at(-1);
  if (to === undefined) return NOTHING;

  const unexplained = await findUnexplained(context, ids, cursor);
  const seenBefore = new Map(
    unexplained.map(({ payment, observations }) => [payment.id, sumObservations(observations).seenUnits]),
  );
  await context.observations.advanceExpiryWatermark(ids, { from, to }, (view) => {
    const seenUnits = seenBefore.get(view.payment.id);
    if (seenUnits === undefined) return settle(view, { nowMs: context.nowMs(), expiredBeforeMs });
    // Unchanged until the money is observed. A deposit recorded during the chain call could not move the watermark
    // back, which had not passed this payment yet.
    return sumObservations(view.observations).seenUnits === seenUnits
      ? null
      : { change: {}, revisitExpiry: true };
  });
  return { checked: ids.length, unexplained: [...seenBefore.keys()] };
}
