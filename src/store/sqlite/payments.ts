import type { DatabaseSync } from 'node:sqlite';
import { bytesOfAddress } from '../../payment/address.ts';
import type { Payment } from '../../payment/payment.ts';
import { createdChange } from '../../payment/payment-statistics.ts';
import {
  type CreateOutcome,
  IDEMPOTENCY_TTL_MS,
  type IdempotencyRecord,
} from '../../payment/payment-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../payment/release-schedule.ts';
import type { RelayStore } from '../../settlement/settlement-store.ts';
import { checkedOwners, ownerOfRow, paymentColumns, paymentOfRow } from '../payments.ts';
import { checkedLimit } from '../scripts.ts';
import { type EnginePayments, PURGED_PER_RECORD } from '../store.ts';
import { changeTable, paymentTable, unindexedTable } from '../tables.ts';
import type { GroupCommit, Reads } from './group-commit.ts';
import { withNumbers } from './open-database.ts';
import { storedValues } from './scripts.ts';

export function createPaymentStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: Reads,
): EnginePayments {
  const insert = database.prepare(paymentTable.insertSql);
  const selectReserved = database.prepare('SELECT 1 FROM payments WHERE deposit_address = ?');
  const insertUnindexed = database.prepare(unindexedTable.insertSql);
  const insertUncounted = database.prepare(changeTable.insertSql);
  // Filters by account, so that another's payment takes no longer than an unknown one.
  const selectOwned = database.prepare(
    `SELECT ${paymentColumns} FROM payments WHERE id = ? AND account_id = ?`,
  );
  const selectById = database.prepare(`SELECT ${paymentColumns} FROM payments WHERE id = ?`);
  const selectOwners = database.prepare(
    `SELECT payments.id, deposit_address
     FROM json_each(?) AS asked CROSS JOIN payments ON deposit_address = unhex(substr(asked.value, 3))`,
  );
  for (const select of [selectOwned, selectById, selectOwners]) select.setReturnArrays(true);
  const idempotency = createIdempotencyTable(database);

  function insertPayment(payment: Payment): CreateOutcome {
    // In a separate statement, because an INSERT that reads its own table builds a temporary one.
    if (selectReserved.get(bytesOfAddress(payment.payoutAddress)) !== undefined) return { kind: 'reserved' };
    insert.run(...storedValues(paymentTable.valuesOf(payment)));
    insertUnindexed.run(payment.accountId, payment.id);
    insertUncounted.run(...storedValues(changeTable.valuesOf(createdChange(payment))));
    return { kind: 'created' };
  }

  /** Resolves simultaneous duplicates one after the other, within the transaction. */
  function createOnce(payment: Payment, record: IdempotencyRecord): CreateOutcome {
    const sinceMs = record.createdAtMs - IDEMPOTENCY_TTL_MS;
    const earlier = findIdempotent(record.accountId, record.key, sinceMs);
    if (earlier !== null) return { kind: 'replayed', ...earlier };
    const outcome = insertPayment(payment);
    if (outcome.kind === 'created') idempotency.replace(record, payment.id, sinceMs);
    return outcome;
  }

  function findIdempotent(
    accountId: string,
    key: string,
    sinceMs: number,
  ): { payment: Payment; fingerprint: string } | null {
    const record = idempotency.find(accountId, key, sinceMs);
    if (record === null) return null;
    const row = selectById.get(record.paymentId);
    if (row === undefined) throw new Error(`payment ${record.paymentId} of an Idempotency-Key is missing`);
    return { payment: paymentOfRow(row), fingerprint: record.fingerprint };
  }

  return {
    createPayment: (payment, record) =>
      writes.runTransaction(() => (record === null ? insertPayment(payment) : createOnce(payment, record))),
    findIdempotent: (accountId, key, sinceMs) =>
      reads.runShort(() => findIdempotent(accountId, key, sinceMs)),
    findPayment: (accountId, id) =>
      reads.runShort(() => {
        const row = selectOwned.get(id, accountId);
        return row === undefined ? null : paymentOfRow(row);
      }),
    findDepositOwners: (addresses) =>
      reads.run(() => selectOwners.all(JSON.stringify(checkedOwners(addresses))).map(ownerOfRow)),
  };
}

interface StoredIdempotency {
  readonly paymentId: string;
  readonly fingerprint: string;
}

/** Synchronous access to idempotency records, for use within a read or a transaction. */
function createIdempotencyTable(database: DatabaseSync) {
  const select = database.prepare(
    `SELECT payment_id AS "paymentId", fingerprint FROM idempotency_records
     WHERE account_id = ? AND key = ? AND created_at_ms > ?`,
  );
  const remove = database.prepare('DELETE FROM idempotency_records WHERE account_id = ? AND key = ?');
  const insert = database.prepare(
    `INSERT INTO idempotency_records (account_id, key, fingerprint, payment_id, created_at_ms)
     VALUES (?, ?, ?, ?, ?)`,
  );
  const purge = database.prepare(
    `DELETE FROM idempotency_records WHERE (account_id, key) IN (
       SELECT account_id, key FROM idempotency_records WHERE created_at_ms <= ?
       ORDER BY created_at_ms LIMIT ${PURGED_PER_RECORD})`,
  );

  return {
    find(accountId: string, key: string, sinceMs: number): StoredIdempotency | null {
      const row = select.get(accountId, key, sinceMs);
      return row === undefined ? null : (row as unknown as StoredIdempotency);
    },
    /** Stores a record in place of an older one with the same key, and deletes a few from before `sinceMs`. */
    replace(record: IdempotencyRecord, paymentId: string, sinceMs: number): void {
      purge.run(sinceMs);
      remove.run(record.accountId, record.key);
      insert.run(record.accountId, record.key, record.fingerprint, paymentId, record.createdAtMs);
    },
  };
}

/**
 * Walks the partial index, which holds few rows: due releases and those that wait after a failure. The explicit IS NOT
 * NULL is needed, because SQLite cannot infer it for the index from the alternatives. Parameter: the current time.
 */
const selectDueSql = `SELECT ${paymentColumns} FROM payments
  WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
    release_due_at_ms <= ?1 OR release_due_at_ms > ?1 + ${LONGEST_DELAY_MS} OR
    (release_due_at_ms > ?1 + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND no_op_batches = 0))
  ORDER BY release_due_at_ms, id`;

/** In memory, because this is the only process and its claims must end with it. */
export function createReleaseClaims(
  database: DatabaseSync,
  reads: Reads,
): Pick<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  const selectDue = database.prepare(selectDueSql);
  selectDue.setReturnArrays(true);
  selectDue.setReadBigInts(true);
  const claims = new Map<string, { readonly relayer: string; readonly endsAtMs: number }>();

  function dropWhere(isOver: (claim: { relayer: string; endsAtMs: number }) => boolean): void {
    for (const [id, claim] of claims) if (isOver(claim)) claims.delete(id);
  }

  /** Reads due payments only as far as needed. */
  function claimDue(relayer: string, nowMs: number, limit: number, durationMs: number): Payment[] {
    const startedAtMs = performance.now();
    dropWhere(({ endsAtMs }) => endsAtMs <= startedAtMs);
    const claimed: Payment[] = [];
    for (const row of selectDue.iterate(nowMs)) {
      const payment = paymentOfRow(withNumbers(row));
      if ((claims.get(payment.id)?.relayer ?? relayer) !== relayer) continue;
      claims.set(payment.id, { relayer, endsAtMs: startedAtMs + durationMs });
      claimed.push(payment);
      if (claimed.length === limit) break;
    }
    return claimed;
  }

  return {
    claimDueReleases: (relayer, nowMs, limit, durationMs) =>
      reads.run(() => claimDue(relayer, nowMs, checkedLimit(limit), durationMs)),
    dropClaims: async (relayer) => dropWhere((claim) => claim.relayer === relayer),
  };
}
