import type { DatabaseSync } from 'node:sqlite';
import type { IdempotencyRecord } from '../../domain/ports/payment-store.ts';
import { PURGED_PER_RECORD } from '../store-limits.ts';

/** A record with the payment it stands for. */
export interface StoredIdempotency {
  readonly paymentId: string;
  readonly fingerprint: string;
}

/** Idempotency records; synchronous, to be called inside a read or a transaction. */
export interface IdempotencyTable {
  /** The record of a key if it was made after `sinceMs`. */
  find(accountId: string, key: string, sinceMs: number): StoredIdempotency | null;
  /** Stores a record in place of an older one of the same key, and deletes a few that were made before `sinceMs`. */
  replace(record: IdempotencyRecord, paymentId: string, sinceMs: number): void;
}

export function createIdempotencyTable(database: DatabaseSync): IdempotencyTable {
  const select = database.prepare(
    `SELECT payment_id AS "paymentId", fingerprint FROM idempotency_records
     WHERE account_id = ? AND key = ? AND created_at_ms > ?`,
  );
  const remove = database.prepare('DELETE FROM idempotency_records WHERE account_id = ? AND key = ?');
  const insert = database.prepare(
    `INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
     VALUES (?, ?, ?, ?, ?)`,
  );
  // The oldest rows have the smallest row numbers: no index on the time is needed to find them.
  const purge = database.prepare(
    `DELETE FROM idempotency_records
     WHERE row IN (SELECT row FROM idempotency_records ORDER BY row LIMIT ${PURGED_PER_RECORD})
       AND created_at_ms <= ?`,
  );

  return {
    find(accountId, key, sinceMs) {
      const row = select.get(accountId, key, sinceMs);
      return row === undefined ? null : (row as unknown as StoredIdempotency);
    },
    replace(record, paymentId, sinceMs) {
      purge.run(sinceMs);
      remove.run(record.accountId, record.key);
      insert.run(record.accountId, record.key, record.fingerprint, paymentId, record.createdAtMs);
    },
  };
}
