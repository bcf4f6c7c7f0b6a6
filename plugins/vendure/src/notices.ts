import type { MerchantPayment, Refund } from '@card-checkout/sdk';

/** Minimum received amount for which a canceled payment is reported. */
const MINIMUM_USDC = 0.01;

/** Returns a notice to the merchant about a payment; null if nothing unusual happened. */
export function noticeOfPayment(payment: MerchantPayment): string | null {
  const received = `${payment.value_coin} USDC`;
  if (payment.status === 'canceled' && Number(payment.value_coin) >= MINIMUM_USDC)
    return payment.forward_status === 'completed'
      ? `${received} arrived after the checkout was canceled, and went to your wallet. Ship or refund by hand.`
      : `${received} arrived after the checkout was canceled. Release it in the dashboard, then ship or refund by hand.`;
  if (payment.amount_mismatch === 'overpaid')
    return `More than the price arrived: ${received}. Refund the surplus in the dashboard.`;
  if (payment.amount_mismatch === 'partially_paid')
    return `Partially paid: ${received}. The customer can pay the rest at the same link.`;
  const isHeld = payment.forward_status === 'failed' || payment.forward_status === 'manual_required';
  if (payment.status === 'unpaid' && isHeld)
    return `${received} arrived, but its release needs the operator of the service. Do not ship yet.`;
  return null;
}

/** Returns the merchant's next step for a refund, or why it ended unpaid; null otherwise. */
export function noticeOfRefund({ status, refund_id: id, amount, destination }: Refund): string | null {
  switch (status) {
    case 'awaiting_confirmation':
      return `The customer named the wallet ${destination} for refund ${id}. Check it with the customer, and confirm it in the dashboard.`;
    case 'awaiting_transfer':
      return `Transfer ${amount} USDC to ${destination} for refund ${id}.`;
    case 'canceled':
    case 'expired':
      return `Refund ${id} ended without a transfer (${status}).`;
    default:
      return null;
  }
}
