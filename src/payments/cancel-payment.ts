import { ServiceError } from '../domain/errors.ts';
import type { CancelReason, Payment } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import { fieldsOf, nextState, stateOf } from '../domain/payment-states.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import { settle } from '../domain/settle.ts';

export interface CancelPaymentContext {
  readonly payments: PaymentStore;
  readonly nowMs: () => number;
}

/**
 * Cancels a payment for which nothing has arrived and no started session can still pay; otherwise throws
 * `payment_state_conflict`.
 */
export async function cancelPayment(
  context: CancelPaymentContext,
  id: PaymentId,
  reason: Exclude<CancelReason, 'expired'>,
): Promise<Payment> {
  const nowMs = context.nowMs();
  const payment = await context.payments.decidePayment(id, (view) => {
    const state = stateOf(view.payment);
    if (state !== 'unpaid/pending') {
      throw new ServiceError('payment_state_conflict', `A payment that is ${state} cannot be canceled.`);
    }
    if (view.ledger.deposits.length > 0) {
      throw new ServiceError(
        'payment_state_conflict',
        'Something has arrived for this payment; it cannot be canceled.',
      );
    }
    if (view.sessions.some((session) => session.expiresAtMs > nowMs)) {
      throw new ServiceError(
        'payment_state_conflict',
        'A customer is at a provider; try again when the session has ended.',
      );
    }
    const canceled = fieldsOf(nextState(state, 'canceled_by_request'));
    return settle(view, { nowMs, expiredBeforeMs: null }, { ...canceled, cancelReason: reason });
  });
  if (payment === null) throw new ServiceError('payment_not_found');
  return payment;
}
