import { formatUnits } from './money.ts';
import type { Payment } from './payment.ts';
import type { NewWebhook } from './webhook.ts';

/** The `payment.forwarded` webhook of a direct payment that has just been completed; the timestamp is added when it is sent. */
export function forwardedWebhook(payment: Payment): NewWebhook {
  return {
    event: 'payment.forwarded',
    fields: {
      event: 'payment.forwarded',
      paymentId: payment.id,
      forwardTxid: payment.txidOut,
      amountForwarded: formatUnits(payment.forwardedUnits),
      toWallet: payment.payoutAddress,
    },
  };
}
