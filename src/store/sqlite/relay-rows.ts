import type { DatabaseSync } from 'node:sqlite';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { RelayAttempt, RelayBatch } from '../../domain/ports/relay-store.ts';
import { type AttemptRow, attemptOfRow } from '../chain-rows.ts';
import { RelayConflictError } from '../store-errors.ts';

/** Relay batches and what belongs to them. Synchronous, inside a read or a transaction. */
export interface RelayRows {
  findOpen(relayer: string): RelayBatch | null;
  /** The nonce after the relayer's newest batch, if that one was resolved. */
  findNextNonce(relayer: string): number | null;
  /** The oldest first. */
  listOpen(limit: number): RelayBatch[];
  /** Returns the new batch's id. */
  insert(batch: Omit<RelayBatch, 'id'>): number;
  /** @throws when no batch with this id is open */
  addAttempt(batchId: number, attempt: RelayAttempt): void;
  /** Returns the batch as it was. @throws when no batch with this id is open */
  close(batchId: number, outcome: string, closedAtMs: number): RelayBatch;
}

type BatchRow = Omit<RelayBatch, 'gasLimit' | 'paymentIds' | 'attempts'> & { readonly gasLimit: string };

const batchColumns = `id, relayer, nonce, kind, rescue_token AS "rescueToken", gas_limit AS "gasLimit",
  created_at_ms AS "createdAtMs"`;

/** Takes a limit. The plus keeps the order from leading along all batches there ever were. */
const selectAllOpenSql = `SELECT ${batchColumns} FROM relay_batches
  WHERE outcome IS NULL ORDER BY +id LIMIT ?`;

export function createRelayRows(database: DatabaseSync): RelayRows {
  const selectOpenOfRelayer = database.prepare(
    `SELECT ${batchColumns} FROM relay_batches WHERE relayer = ? AND outcome IS NULL`,
  );
  const selectNewest = database.prepare(
    'SELECT nonce, outcome FROM relay_batches WHERE relayer = ? ORDER BY id DESC LIMIT 1',
  );
  const selectAllOpen = database.prepare(selectAllOpenSql);
  const selectOpen = database.prepare(
    `SELECT ${batchColumns} FROM relay_batches WHERE id = ? AND outcome IS NULL`,
  );
  const insertBatch = database.prepare(
    `INSERT INTO relay_batches (relayer, nonce, kind, rescue_token, gas_limit, created_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const closeBatch = database.prepare('UPDATE relay_batches SET outcome = ?, closed_at_ms = ? WHERE id = ?');
  const insertPayment = database.prepare(
    'INSERT INTO relay_batch_payments (batch_id, position, payment_id) VALUES (?, ?, ?)',
  );
  const selectPayments = database.prepare(
    'SELECT payment_id FROM relay_batch_payments WHERE batch_id = ? ORDER BY position',
  );
  const attempts = prepareAttempts(database);

  function batchOf(row: BatchRow): RelayBatch {
    return {
      ...row,
      gasLimit: BigInt(row.gasLimit),
      paymentIds: selectPayments.all(row.id).map(({ payment_id: id }) => id as PaymentId),
      attempts: attempts.list(row.id),
    };
  }

  function requireOpen(batchId: number): BatchRow {
    const row = selectOpen.get(batchId) as unknown as BatchRow | undefined;
    if (row === undefined) throw new RelayConflictError(`there is no open relay batch ${batchId}`);
    return row;
  }

  return {
    findOpen(relayer) {
      const row = selectOpenOfRelayer.get(relayer) as unknown as BatchRow | undefined;
      return row === undefined ? null : batchOf(row);
    },
    findNextNonce(relayer) {
      const newest = selectNewest.get(relayer) as { nonce: number; outcome: string | null } | undefined;
      return newest?.outcome === 'resolved' ? newest.nonce + 1 : null;
    },
    listOpen: (limit) => (selectAllOpen.all(limit) as unknown as BatchRow[]).map(batchOf),
    insert(batch) {
      const { lastInsertRowid } = insertBatch.run(
        ...[batch.relayer, batch.nonce, batch.kind, batch.rescueToken],
        ...[batch.gasLimit.toString(), batch.createdAtMs],
      );
      const id = Number(lastInsertRowid);
      for (const [position, paymentId] of batch.paymentIds.entries())
        insertPayment.run(id, position, paymentId);
      for (const attempt of batch.attempts) attempts.add(id, attempt);
      return id;
    },
    addAttempt(batchId, attempt) {
      requireOpen(batchId);
      attempts.add(batchId, attempt);
    },
    close(batchId, outcome, closedAtMs) {
      const batch = batchOf(requireOpen(batchId));
      closeBatch.run(outcome, closedAtMs, batchId);
      return batch;
    },
  };
}

function prepareAttempts(database: DatabaseSync) {
  const insert = database.prepare(
    `INSERT INTO relay_attempts
       (batch_id, position, hash, raw_transaction, max_fee_per_gas, max_priority_fee_per_gas, signed_at_ms)
     VALUES (?1, (SELECT count(*) FROM relay_attempts WHERE batch_id = ?1), ?2, ?3, ?4, ?5, ?6)`,
  );
  const select = database.prepare(
    `SELECT hash, raw_transaction AS "rawTransaction", max_fee_per_gas AS "maxFeePerGas",
       max_priority_fee_per_gas AS "maxPriorityFeePerGas", signed_at_ms AS "signedAtMs"
     FROM relay_attempts WHERE batch_id = ? ORDER BY position`,
  );
  return {
    add(batchId: number, attempt: RelayAttempt): void {
      insert.run(
        ...[batchId, attempt.hash, attempt.rawTransaction, attempt.maxFeePerGas.toString()],
        ...[attempt.maxPriorityFeePerGas.toString(), attempt.signedAtMs],
      );
    },
    list(batchId: number): RelayAttempt[] {
      return (select.all(batchId) as unknown as AttemptRow[]).map(attemptOfRow);
    },
  };
}
