import type { Payment } from '../../payment/payment.ts';
import {
  type CreateOutcome,
  IDEMPOTENCY_TTL_MS,
  type IdempotencyRecord,
} from '../../payment/payment-store.ts';
import type { RelayStore } from '../../settlement/settlement-store.ts';
import {
  findIdempotent,
  insertPayment,
  isReleaseDue,
  PURGED_PER_RECORD,
  selectPayments,
} from '../payments.ts';
import { run, type Script, type Scripts } from '../scripts.ts';

/** Resolves simultaneous duplicates one after the other, within the transaction. */
export function* createPayment(payment: Payment, record: IdempotencyRecord | null): Script<CreateOutcome> {
  if (record !== null) {
    const { accountId, key, createdAtMs } = record;
    const earlier = yield* findIdempotent(accountId, key, createdAtMs - IDEMPOTENCY_TTL_MS);
    if (earlier !== null) return { kind: 'replayed', ...earlier };
  }
  if (!(yield* insertPayment(payment))) return { kind: 'reserved' };
  if (record !== null) yield* insertRecord(record, payment);
  return { kind: 'created' };
}

/** Stores a record in place of an older one with the same key, and deletes a few expired ones. */
function* insertRecord(
  { accountId, key, fingerprint, createdAtMs }: IdempotencyRecord,
  { id }: Payment,
): Script<void> {
  yield* run`
    DELETE FROM idempotency_records WHERE (account_id, key) IN (
      SELECT account_id, key FROM idempotency_records WHERE created_at_ms <= ${createdAtMs - IDEMPOTENCY_TTL_MS}
      ORDER BY created_at_ms LIMIT ${PURGED_PER_RECORD})`;
  yield* run`
    INSERT OR REPLACE INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
    VALUES (${accountId}, ${key}, ${fingerprint}, ${id}, ${createdAtMs})`;
}

/** In memory, because this is the only process and its claims must end with it. */
export function createReleaseClaims({ read }: Scripts): Pick<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  const claims = new Map<string, { readonly relayer: string; readonly endsAtMs: number }>();

  function dropWhere(isOver: (claim: { relayer: string; endsAtMs: number }) => boolean): void {
    for (const [id, claim] of claims) if (isOver(claim)) claims.delete(id);
  }

  return {
    claimDueReleases: read(function* (relayer, nowMs, limit, durationMs) {
      const startedAtMs = performance.now();
      dropWhere(({ endsAtMs }) => endsAtMs <= startedAtMs);
      const ofOthers = [...claims].flatMap(([id, claim]) => (claim.relayer === relayer ? [] : [id]));
      const due = yield* selectPayments`
        FROM payments WHERE ${isReleaseDue(nowMs)} AND id <> ALL(${ofOthers})
        ORDER BY release_due_at_ms, id LIMIT ${limit}`;
      for (const { id } of due) claims.set(id, { relayer, endsAtMs: startedAtMs + durationMs });
      return due;
    }),
    dropClaims: async (relayer) => dropWhere((claim) => claim.relayer === relayer),
  };
}
