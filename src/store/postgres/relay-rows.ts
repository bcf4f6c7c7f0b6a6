import type { PaymentId } from '../../domain/payment-id.ts';
import type { RelayAttempt, RelayBatch } from '../../domain/ports/relay-store.ts';
import { type AttemptRow, attemptOfRow } from '../chain-rows.ts';
import { RelayConflictError } from '../store-errors.ts';
import type { Connection } from './open-database.ts';
import { isUniqueViolation } from './postgres-error.ts';
import { statement } from './statement.ts';

/** Relay batches and what belongs to them. */

type BatchRow = Omit<RelayBatch, 'gasLimit' | 'attempts'> & {
  readonly gasLimit: string;
  readonly attempts: readonly AttemptRow[];
};

const batchColumns = `
  id, relayer, nonce, kind, rescue_token AS "rescueToken", gas_limit AS "gasLimit", created_at_ms AS "createdAtMs",
  (SELECT coalesce(json_agg(payment_id ORDER BY position), '[]')
   FROM relay_batch_payments WHERE batch_id = id) AS "paymentIds",
  (SELECT coalesce(json_agg(json_build_object(
     'hash', hash, 'rawTransaction', raw_transaction, 'maxFeePerGas', max_fee_per_gas::text,
     'maxPriorityFeePerGas', max_priority_fee_per_gas::text, 'signedAtMs', signed_at_ms) ORDER BY position), '[]')
   FROM relay_attempts WHERE batch_id = id) AS "attempts"`;
const selectOpenOfRelayer = statement(
  `SELECT ${batchColumns} FROM relay_batches WHERE relayer = $1 AND outcome IS NULL`,
);
const selectNewest = statement(
  'SELECT nonce, outcome FROM relay_batches WHERE relayer = $1 ORDER BY id DESC LIMIT 1',
);
const selectOpen = statement(
  `SELECT ${batchColumns} FROM relay_batches WHERE id = $1 AND outcome IS NULL FOR UPDATE OF relay_batches`,
);
/** The sum keeps the order from leading along all batches there ever were. */
const selectAllOpen = statement(
  `SELECT ${batchColumns} FROM relay_batches WHERE outcome IS NULL ORDER BY id + 0 LIMIT $1`,
);
const insert = statement(`
  INSERT INTO relay_batches (relayer, nonce, kind, rescue_token, gas_limit, created_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`);
const insertPayments = statement(`
  INSERT INTO relay_batch_payments (batch_id, position, payment_id)
  SELECT $1, position - 1, payment_id FROM unnest($2::text[]) WITH ORDINALITY AS carried (payment_id, position)`);
const close = statement('UPDATE relay_batches SET outcome = $1, closed_at_ms = $2 WHERE id = $3');
const insertAttempt = statement(`
  INSERT INTO relay_attempts
    (batch_id, position, hash, raw_transaction, max_fee_per_gas, max_priority_fee_per_gas, signed_at_ms)
  SELECT $1, count(*), $2, $3, $4, $5, $6 FROM relay_attempts WHERE batch_id = $1`);

export async function findOpenBatch(connection: Connection, relayer: string): Promise<RelayBatch | null> {
  const [row] = await connection.query<BatchRow>(selectOpenOfRelayer, [relayer]);
  return row === undefined ? null : batchOfRow(row);
}

/** The nonce after the relayer's newest batch, if that one was resolved. */
export async function findNextNonce(connection: Connection, relayer: string): Promise<number | null> {
  const [newest] = await connection.query<{ nonce: number; outcome: string | null }>(selectNewest, [relayer]);
  return newest?.outcome === 'resolved' ? newest.nonce + 1 : null;
}

/** The oldest first. */
export async function listOpenBatches(connection: Connection, limit: number): Promise<RelayBatch[]> {
  return (await connection.query<BatchRow>(selectAllOpen, [limit])).map(batchOfRow);
}

/** Returns the new batch's id. @throws when the relayer has an open batch, also one that is being committed */
export async function insertBatch(connection: Connection, batch: Omit<RelayBatch, 'id'>): Promise<number> {
  const { relayer, nonce, kind, rescueToken, gasLimit, createdAtMs } = batch;
  const values = [relayer, nonce, kind, rescueToken, gasLimit, createdAtMs];
  const [row] = await connection.query<{ id: number }>(insert, values).catch((error: unknown) => {
    throw isUniqueViolation(error)
      ? new RelayConflictError(`relayer ${relayer} has a batch in flight already`)
      : error;
  });
  const { id } = row as { id: number };
  await connection.execute(insertPayments, [id, batch.paymentIds]);
  for (const attempt of batch.attempts) await addAttempt(connection, id, attempt);
  return id;
}

/** @throws when no batch with this id is open */
export async function requireOpenBatch(connection: Connection, batchId: number): Promise<RelayBatch> {
  const [row] = await connection.query<BatchRow>(selectOpen, [batchId]);
  if (row === undefined) throw new RelayConflictError(`there is no open relay batch ${batchId}`);
  return batchOfRow(row);
}

export async function addAttempt(
  connection: Connection,
  batchId: number,
  attempt: RelayAttempt,
): Promise<void> {
  const { hash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, signedAtMs } = attempt;
  const values = [batchId, hash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, signedAtMs];
  await connection.execute(insertAttempt, values);
}

export async function markClosed(
  connection: Connection,
  batchId: number,
  outcome: string,
  closedAtMs: number,
): Promise<void> {
  await connection.execute(close, [outcome, closedAtMs, batchId]);
}

function batchOfRow(row: BatchRow): RelayBatch {
  return {
    ...row,
    paymentIds: row.paymentIds as readonly PaymentId[],
    gasLimit: BigInt(row.gasLimit),
    attempts: row.attempts.map(attemptOfRow),
  };
}
