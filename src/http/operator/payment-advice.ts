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
    case 'unpaid/pending':
      return payment.amountMismatch === 'partially_paid'
        ? 'Nothing while it is open: the customer can send the rest from a wallet, at the address on the checkout page. If it expires before that, release what arrived to the merchant. It cannot be canceled, because something has arrived.'
        : 'Nothing: it waits for the customer. As long as nothing has arrived, it can be canceled.';
    case 'paid/completed':
      return payment.amountMismatch === 'overpaid'
        ? 'More arrived than it asked for, all of it for the merchant, who refunds the customer where they paid twice.'
        : 'Nothing: it is paid.';
    case 'canceled/canceled':
      return 'Nothing: it was canceled, and nothing lies at the deposit address.';
    case 'canceled/completed':
      return 'Nothing: what arrived was released to the merchant.';
    default:
      return 'Nothing: it goes on by itself.';
  }
}
