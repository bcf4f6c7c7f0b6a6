import type { PaymentId } from '../payment/payment.ts';
import { firstIdAtMs } from '../payment/payment-id.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import { settle, sumObservations } from '../payment/settle.ts';
import type { SweepBalances } from './chain/chain.ts';
import type { BlockReference, ObservationStore } from './settlement-store.ts';
import { findUnexplained } from './sweep-balances.ts';

export interface ExpirePaymentsContext
  extends Readonly<{ payments: PaymentStore; observations: ObservationStore }> {
  readonly sweep: SweepBalances;
  /** The newest block that was read a second time, at another host; null before the first one. */
  readonly rescannedTo: () => BlockReference | null;
  readonly nowMs: () => number;
  readonly expiryMs: number;
}

/** The result of one run. */
export interface ExpiryPass {
  readonly checked: number;
  /** Past their deadline, but money that was not observed lies at their addresses: not expired. */
  readonly unexplained: readonly PaymentId[];
}

const BATCH_SIZE = 500;
const NOTHING: ExpiryPass = { checked: 0, unexplained: [] };

/**
 * Cancels what is past its deadline, oldest first: ids are ordered by time, so how far this has come is an id, and a
 * payment that falls back to waiting moves it back. Nothing expires on one reading of the logs: the blocks up to the
 * deadline were read at another host too, and the chain is asked for the balance, because a node may leave events out. The
 * balance alone is not enough: it is zero as well where both a deposit and its release were left out. Throws while the
 * chain cannot be asked.
 */
export async function expirePayments(context: ExpirePaymentsContext): Promise<ExpiryPass> {
  const cursor = await context.observations.readCursor();
  const rescannedTo = context.rescannedTo();
  if (cursor === null || rescannedTo === null) return NOTHING;
  const readUpToMs = Math.min(cursor.timestampMs, rescannedTo.timestampMs);
  const expiredBeforeMs = expiredBefore(context, readUpToMs);
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
    // Unchanged until the money is observed. When it was recorded during the chain call, that write could not bring the
    // payment back to this step, which had not passed it yet.
    return sumObservations(view.observations).seenUnits === seenUnits
      ? null
      : { change: {}, revisitExpiry: true };
  });
  return { checked: ids.length, unexplained: [...seenBefore.keys()] };
}

/**
 * Payments created before this moment are past their deadline, as far as the chain has been read: the deadline must lie
 * before the time of a final block that was read twice and before our own clock, whichever is earlier, so that
 * neither a clock that runs ahead nor a watcher that is behind expires anything.
 */
function expiredBefore(context: ExpirePaymentsContext, readUpToMs: number): number {
  return Math.min(readUpToMs, context.nowMs()) - context.expiryMs;
}
