import { ServiceError } from '../domain/errors.ts';
import type { Payment, PaymentReference } from '../domain/payment.ts';
import { stateOf } from '../domain/payment-states.ts';
import type { PaymentView } from '../domain/ports/payment-store.ts';
import { settle, sumObservations } from '../domain/settle.ts';
import type { ReleasePaymentContext } from './release-payment.ts';

/** What a partial payment can be accepted at: the units that arrived. Throws `payment_state_conflict` where it cannot be. */
function acceptableUnits({ payment, observations }: PaymentView): bigint {
  const { seenUnits, finalSeenUnits } = sumObservations(observations);
  if (stateOf(payment) !== 'unpaid/pending' || seenUnits === 0n) {
    throw new ServiceError(
      'payment_state_conflict',
      'Only an open payment for which a part of the amount has arrived can be accepted as paid.',
    );
  }
  if (finalSeenUnits < seenUnits) {
    throw new ServiceError(
      'payment_state_conflict',
      'The deposit is not final on the chain yet. Try again in a minute.',
    );
  }
  return seenUnits;
}

/**
 * Accepts a partial payment as paid: lowers its paid threshold to what has arrived. The payment is then released and
 * becomes `paid` as any other, when its release is final. `acceptedUnits` is the amount that the merchant saw; a
 * deposit that arrived since is a `payment_state_conflict`, because the merchant decided about another amount.
 */
export async function acceptPayment(
  { payments, nowMs }: ReleasePaymentContext,
  payment: PaymentReference,
  acceptedUnits: bigint,
): Promise<Payment> {
  const accepted = await payments.decidePayment(payment, (view) => {
    const paidThresholdUnits = acceptableUnits(view);
    if (paidThresholdUnits !== acceptedUnits) {
      throw new ServiceError(
        'payment_state_conflict',
        'Another deposit has arrived. Look at the amount again.',
      );
    }
    return settle(view, { nowMs: nowMs() }, { paidThresholdUnits });
  });
  if (accepted === null) throw new ServiceError('payment_not_found');
  return accepted;
}
