import { stateConflict } from './errors.ts';
import { isDust } from './fees-and-paid-threshold.ts';
import type { CancelReason, Payment, PaymentId } from './payment.ts';
import { fieldsOf, nextState, stateOf } from './payment-states.ts';
import type { PaymentStore } from './payment-store.ts';
import { DELIVERY_GRACE_MS, type ProviderSession } from './provider-session.ts';
import { decideExisting } from './release-payment.ts';
import { settle, sumObservations } from './settle.ts';

export interface CancelPaymentContext {
  readonly payments: PaymentStore;
  /** Store of the scan's cursor, the newest final block that was read; null before the first scan. */
  readonly observations: { readCursor(): Promise<{ readonly timestampMs: number } | null> };
  readonly nowMs: () => number;
}

const MINUTE_MS = 60_000;
/** Maximum age of the scan's cursor. A stale cursor cannot prove that no deposit has arrived. */
const MAXIMUM_CURSOR_AGE_MS = 10 * MINUTE_MS;

/**
 * Cancels an open payment that has received at most dust and has no session that can still pay. Throws
 * `payment_state_conflict` for other payments or a stale cursor, and `payment_not_found` for an unknown payment.
 */
export async function cancelPayment(
  context: CancelPaymentContext,
  id: PaymentId,
  reason: Exclude<CancelReason, 'expired'>,
): Promise<Payment> {
  const nowMs = context.nowMs();
  await requireFreshCursor(context.observations, nowMs);
  return decideExisting(context, id, (view) => {
    const state = stateOf(view.payment);
    if (state !== 'unpaid/pending') {
      throw stateConflict(`A payment that is ${state} cannot be canceled.`);
    }
    if (!isDust(view.payment, sumObservations(view.observations).seenUnits)) {
      throw stateConflict(
        'A deposit of 0.01 USDC or more has arrived for this payment, so it cannot be canceled.',
      );
    }
    requireNoOpenSession(view.sessions, nowMs);
    const canceled = fieldsOf(nextState(state, 'canceled_by_request'));
    return settle(view, { nowMs }, { ...canceled, cancelReason: reason });
  });
}

async function requireFreshCursor(
  observations: CancelPaymentContext['observations'],
  nowMs: number,
): Promise<void> {
  const cursor = await observations.readCursor();
  if (cursor !== null && nowMs - cursor.timestampMs <= MAXIMUM_CURSOR_AGE_MS) return;
  const seen = cursor === null ? 'not been read yet' : `been read only up to ${isoTime(cursor.timestampMs)}`;
  throw stateConflict(
    `The payment network has ${seen}, so there may be an unseen deposit. Try again when the service has caught up.`,
  );
}

function requireNoOpenSession(sessions: readonly ProviderSession[], nowMs: number): void {
  const lastExpiryMs = Math.max(...sessions.map(({ expiresAtMs }) => expiresAtMs));
  if (lastExpiryMs > nowMs) {
    throw stateConflict('A customer has an open provider session. Try again when it has ended.');
  }
  if (lastExpiryMs + DELIVERY_GRACE_MS > nowMs) {
    throw stateConflict(
      `A recent provider session may still deliver a payment. Try again after ${isoTime(lastExpiryMs + DELIVERY_GRACE_MS)}.`,
    );
  }
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
