import { formatCents, formatUnits } from './money.ts';
import { isDirect, type Payment } from './payment.ts';
import type { NewWebhook } from './webhook.ts';

/** The settlement asset's ticker on the wire. */
export const SETTLEMENT_COIN = 'polygon_usdc';

/**
 * The `payment.paid` webhook of a payment that has just become paid; the timestamp is added when it is sent. Of a direct
 * payment nothing is forwarded by then.
 */
export function paidWebhook(payment: Payment): NewWebhook {
  return {
    event: 'payment.paid',
    fields: {
      event: 'payment.paid',
      id: payment.id,
      paymentId: payment.id,
      status: 'paid',
      amount: formatCents(payment.amountCents),
      originalAmount: formatOptionalCents(payment.originalAmountCents),
      customerFeeAmount: formatOptionalCents(payment.customerFeeCents),
      passFeeToCustomer: payment.passFeeToCustomer,
      currency: payment.currency,
      coin: SETTLEMENT_COIN,
      receivedAmount: formatUnits(payment.receivedUnits),
      forwardedAmount: isDirect(payment) ? null : formatUnits(payment.forwardedUnits),
      txidIn: payment.txidIn,
      txidOut: isDirect(payment) ? null : payment.txidOut,
      note: payment.note,
      email: payment.email,
    },
  };
}

/** "1.10", or null for null. */
export function formatOptionalCents(cents: number | null): string | null {
  return cents === null ? null : formatCents(cents);
}
