import { createHash } from 'node:crypto';
import { ServiceError } from '../domain/errors.ts';
import type { Payment } from '../domain/payment.ts';
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

/** The payment that this key already made, or null. Throws `idempotency_conflict` when it was for something else. */
export async function replayOf(payments: PaymentStore, record: IdempotencyRecord): Promise<Payment | null> {
  const earlier = await payments.findIdempotent(
    record.accountId,
    record.key,
    record.createdAtMs - IDEMPOTENCY_TTL_MS,
  );
  if (earlier === null) return null;
  if (earlier.fingerprint !== record.fingerprint) throw new ServiceError('idempotency_conflict');
  return earlier.payment;
}
