import { ServiceError } from '../domain/errors.ts';
import type { IpnTokens } from '../domain/ipn-token.ts';
import type { Payment } from '../domain/payment.ts';
import { isPaymentId } from '../domain/payment-id.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';

export interface ReadStatusContext {
  readonly payments: PaymentStore;
  readonly tokens: IpnTokens;
}

/** The caller's reference to the payment. The token takes precedence when both are given. */
export interface StatusQuery {
  readonly ipnToken: string | null;
  readonly paymentId: string | null;
}

/**
 * A payment of this account. An unknown payment, another account's, and a token that proves nothing are the same
 * 404, so that no caller learns which payments exist.
 */
export async function readStatus(
  context: ReadStatusContext,
  accountId: string,
  query: StatusQuery,
): Promise<Payment> {
  // UUIDs are written in either case (RFC 9562); ours are stored in lower case.
  const id =
    query.ipnToken === null
      ? (query.paymentId?.toLowerCase() ?? null)
      : context.tokens.verify(query.ipnToken);
  const payment = isPaymentId(id) ? await context.payments.findPayment(accountId, id) : null;
  if (payment === null) throw new ServiceError('payment_not_found');
  return payment;
}
