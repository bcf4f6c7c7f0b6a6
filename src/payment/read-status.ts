import { ServiceError } from './errors.ts';
import type { IpnTokens } from './ipn-token.ts';
import type { Payment } from './payment.ts';
import { isPaymentId } from './payment-id.ts';
import type { PaymentStore } from './payment-store.ts';

export interface ReadStatusContext {
  readonly payments: PaymentStore;
  readonly tokens: IpnTokens;
}

/** Reads the account's payment by token or, without a token, by id. Throws `payment_not_found` if there is none. */
export async function readStatus(
  context: ReadStatusContext,
  accountId: string,
  { ipnToken, paymentId }: { readonly ipnToken: string | null; readonly paymentId: string | null },
): Promise<Payment> {
  // UUIDs may be in upper or lower case (RFC 9562), but payment ids are stored in lower case.
  const id = ipnToken === null ? paymentId?.toLowerCase() : context.tokens.verify(ipnToken);
  const payment = isPaymentId(id) ? await context.payments.findPayment(accountId, id) : null;
  if (payment === null) throw new ServiceError('payment_not_found');
  return payment;
}
