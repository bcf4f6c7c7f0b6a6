import { createHash } from 'node:crypto';
import {
  IDEMPOTENCY_TTL_MS,
  type IdempotencyRecord,
  type PaymentStore,
} from '../domain/ports/payment-store.ts';
import type { CreatePaymentRequest } from './create-payment-request.ts';

/** SHA-256 of what a request asks for, after normalisation: POST and GET of the same are the same. */
export function fingerprintOf(request: Omit<CreatePaymentRequest, 'idempotencyKey'>): string {
  const parameters = [
    request.payoutAddress,
    request.callbackUrl,
    request.amountCents,
    request.currency,
    request.passFeeToCustomer,
    request.provider,
    request.email,
    request.note,
  ];
  return createHash('sha256').update(JSON.stringify(parameters)).digest('hex');
}

/** What an earlier request with this key made, and the fingerprint of what it asked for; null when there was none. */
export function findEarlier(
  payments: PaymentStore,
  { accountId, key, createdAtMs }: IdempotencyRecord,
): ReturnType<PaymentStore['findIdempotent']> {
  return payments.findIdempotent(accountId, key, createdAtMs - IDEMPOTENCY_TTL_MS);
}
