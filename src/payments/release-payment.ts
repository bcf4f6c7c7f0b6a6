import { ServiceError } from '../domain/errors.ts';
import type { Payment } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import { settle, sumObservations } from '../domain/settle.ts';

export interface ReleasePaymentContext {
  readonly payments: PaymentStore;
  readonly nowMs: () => number;
}

/**
 * Asks for the release of what lies at a deposit address, now: of a canceled payment (which never releases by
 * itself), of one whose release was refused, or of a surplus too small to be released by itself. The money can only
 * go where the address is bound to. Throws `payment_state_conflict` when there is nothing to release, when a
 * transaction carries it already, or when the payment may still become paid.
 */
export async function releasePayment(context: ReleasePaymentContext, id: PaymentId): Promise<Payment> {
  const nowMs = context.nowMs();
  const found = await context.payments.findPaymentById(id);
  if (found === null) throw new ServiceError('payment_not_found');
  const payment = await context.payments.decidePayment(found, (view) => {
    if (sumObservations(view.observations).heldUnits === 0n) {
      throw new ServiceError('payment_state_conflict', 'The deposit address of this payment holds no USDC.');
    }
    if (view.payment.relayBatchId !== null) {
      throw new ServiceError(
        'payment_state_conflict',
        `Relay batch ${view.payment.relayBatchId} already includes the release of this payment. ` +
          'The service resends the batch until it is mined or dropped, and then releases any remainder automatically.',
      );
    }
    if (view.payment.status === 'unpaid' && view.payment.forwardStatus === 'pending') {
      throw new ServiceError(
        'payment_state_conflict',
        'The deposits are below the paid threshold and the payment is still open: the customer can still pay the rest.',
      );
    }
    return settle(
      view,
      { nowMs },
      {
        releaseRequested: view.payment.status !== 'unpaid',
        releaseRefusals: 0,
        releaseRefusalReason: null,
        noOpBatches: 0,
        releaseDueAtMs: nowMs,
      },
    );
  });
  if (payment === null) throw new ServiceError('payment_not_found');
  return payment;
}
