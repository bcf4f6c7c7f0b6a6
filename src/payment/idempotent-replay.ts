/**
 * Idempotent replay of a create: the same `Idempotency-Key` of an account with the same parameters answers with the
 * payment of the first request, for 24 hours. Other parameters under the same key are a conflict. Only successes are
 * kept, in the transaction that creates the payment (`createPayment` of the store).
 */
import { createHash } from 'node:crypto';
import type { Account } from '../accounts/account.ts';
import { IDEMPOTENCY_TTL_MS, type IdempotencyRecord, type PaymentStore } from './payment-store.ts';

/** The payment of an earlier request with the same key, and the fingerprint of its parameters. */
type EarlierCreate = NonNullable<Awaited<ReturnType<PaymentStore['findIdempotent']>>>;

/** SHA-256 of the normalized parameters of a request, in hex. */
export function fingerprintOf(parameters: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parameters)).digest('hex');
}

/** The record of a key with the parameters that it stands for; null without a key. */
export function recordOf(
  { id: accountId }: Pick<Account, 'id'>,
  key: string | null,
  parameters: readonly unknown[],
  createdAtMs: number,
): IdempotencyRecord | null {
  return key === null ? null : { accountId, key, fingerprint: fingerprintOf(parameters), createdAtMs };
}

/** The create of an earlier request with the same key; null without a key, and where there was none within the TTL. */
export async function findEarlierCreate(
  payments: Pick<PaymentStore, 'findIdempotent'>,
  record: IdempotencyRecord | null,
): Promise<EarlierCreate | null> {
  if (record === null) return null;
  return payments.findIdempotent(record.accountId, record.key, record.createdAtMs - IDEMPOTENCY_TTL_MS);
}

/** Whether an earlier create had the same parameters, so that its payment is the answer. */
export function isReplayOf(
  earlier: EarlierCreate | null,
  record: IdempotencyRecord | null,
): earlier is EarlierCreate {
  return earlier !== null && earlier.fingerprint === record?.fingerprint;
}
