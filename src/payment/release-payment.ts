import { ServiceError, stateConflict } from './errors.ts';
import { isDust } from './fees-and-paid-threshold.ts';
import type { Payment, PaymentId } from './payment.ts';
import { stateOf } from './payment-states.ts';
import type { Decide, PaymentStore } from './payment-store.ts';
import { settle, sumObservations } from './settle.ts';

export interface ReleasePaymentContext {
  readonly payments: PaymentStore;
  readonly nowMs: () => number;
}

/**
 * Requests an immediate release, for example of a canceled payment, after a refusal, while network fees are high, or of
 * a small surplus. The money can only go to the merchant. Throws `payment_state_conflict` if at most dust can be
 * released, a relay batch already has the release, or the payment is below the paid threshold but still open. Throws
 * `payment_not_found` for an unknown payment.
 */
export async function releasePayment(context: ReleasePaymentContext, id: PaymentId): Promise<Payment> {
  const nowMs = context.nowMs();
  return decideExisting(context, id, (view) => {
    if (sumObservations(view.observations).heldUnits === 0n) {
      throw stateConflict('The deposit address of this payment holds no USDC.');
    }
    if (view.payment.relayBatchId !== null) {
      throw stateConflict(
        `Relay batch ${view.payment.relayBatchId} already includes the release of this payment. ` +
          'The service resends the batch until it is mined or dropped, and then releases any remainder automatically.',
      );
    }
    if (view.payment.status === 'unpaid' && view.payment.forwardStatus === 'pending') {
      throw stateConflict(
        'The deposits are below the paid threshold and the payment is still open: the customer can still pay the rest.',
      );
    }
    if (stateOf(view.payment) === 'canceled/canceled') {
      throw stateConflict('Less than 0.01 USDC has arrived. It is released with the next deposit.');
    }
    return settle(
      view,
      { nowMs },
      {
        releaseRequested: true,
        releaseRefusals: 0,
        releaseRefusalReason: null,
        noOpBatches: 0,
        releaseDueAtMs: nowMs,
      },
    );
  });
}

/** Applies a decision to a stored payment. Throws `payment_not_found` for an unknown payment. */
export async function decideExisting(
  { payments }: Pick<ReleasePaymentContext, 'payments'>,
  id: PaymentId,
  decide: Decide,
): Promise<Payment> {
  const decided = await payments.decidePayment(id, decide);
  if (decided === null) throw new ServiceError('payment_not_found');
  return decided;
}

/**
 * Accepts a partial payment by lowering its paid threshold to the sum of deposits. `acceptedUnits` is the sum shown to
 * the merchant. Throws `payment_state_conflict` if the sum has changed, the payment is not open, or the deposits are
 * only dust or not final. Throws `payment_not_found` for an unknown payment.
 */
export async function acceptPayment(
  context: ReleasePaymentContext,
  id: PaymentId,
  acceptedUnits: bigint,
): Promise<Payment> {
  return decideExisting(context, id, (view) => {
    const { seenUnits, finalSeenUnits } = sumObservations(view.observations);
    if (stateOf(view.payment) !== 'unpaid/pending' || isDust(view.payment, seenUnits)) {
      throw stateConflict(
        'Only an open payment for which a part of the amount has arrived can be accepted as paid.',
      );
    }
    if (finalSeenUnits < seenUnits) {
      throw stateConflict('The deposit is not final on the chain yet. Try again in a minute.');
    }
    if (seenUnits !== acceptedUnits) {
      throw stateConflict('Another deposit has arrived. Look at the amount again.');
    }
    return settle(
      view,
      { nowMs: context.nowMs() },
      { paidThresholdUnits: seenUnits, releaseRequested: true },
    );
  });
}
