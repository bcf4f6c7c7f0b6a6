import type { Payment } from '../../domain/payment.ts';
import { stateOf } from '../../domain/payment-states.ts';

/** What an operator can do for a payment whose release waits for a hand, in words. */
export function adviceFor(payment: Payment): string {
  const reason = payment.releaseRefusalReason === null ? '' : ` (${payment.releaseRefusalReason})`;
  switch (stateOf(payment)) {
    case 'canceled/manual_required':
      return 'It came after the end of the payment. Release it to the merchant, who settles it with the customer.';
    case 'unpaid/failed':
    case 'paid/failed':
      return `The token refused the release${reason}. It is tried again by itself.`;
    case 'unpaid/manual_required':
    case 'paid/manual_required':
      return `The token refused the release again and again${reason}. Have the merchant find out why its wallet is blocked; once it is not, release it.`;
    default:
      return 'Nothing: it goes on by itself.';
  }
}
