import type { PaymentReference } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import type { RelayAttempt, RelayBatch, RelayStore } from '../../domain/ports/settlement-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../domain/settle.ts';
import { type AttemptRow, attemptOfRow } from '../observation-rules.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { checkNewBatch, checkReplacement, MAXIMUM_LISTED, nextNonceOf } from '../relay-batches.ts';
import { checkListLimit } from '../store.ts';
import { RelayConflictError } from '../store-errors.ts';
import { askedPayments, askedSql, findReferences } from './asked-payments.ts';
import { type Connection, type Database, isUniqueViolation } from './open-database.ts';
import { lockPayments, type PaymentDecider } from './payment-decider.ts';
import { paymentColumns } from './payment-rows.ts';
import { arrayStatement, statement } from './statements.ts';

/**
 * A walk along the partial index, which holds few rows: what is due, and what waits after a failed try. What another
 * relayer claims at this moment is skipped; where its claim was committed in between, ours loses against its row.
 */
const claimDue = arrayStatement(`
  WITH due AS (
    SELECT account_id, id FROM payments
    WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
      release_due_at_ms <= $2::bigint OR release_due_at_ms > $2::bigint + ${LONGEST_DELAY_MS} OR
      (release_due_at_ms > $2::bigint + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND no_op_batches = 0))
      AND NOT EXISTS (
        SELECT FROM release_claims AS other
        WHERE other.account_id = payments.account_id AND other.payment_id = payments.id
          AND other.relayer <> $1 AND other.ends_at > clock_timestamp())
    ORDER BY release_due_at_ms, row LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
  ), claimed AS (
    INSERT INTO release_claims AS present (account_id, payment_id, relayer, ends_at)
    SELECT account_id, id, $1, clock_timestamp() + $4 * interval '1 millisecond' FROM due
    ON CONFLICT (account_id, payment_id) DO UPDATE SET relayer = excluded.relayer, ends_at = excluded.ends_at
    WHERE present.relayer = excluded.relayer OR present.ends_at <= clock_timestamp()
    RETURNING present.account_id AS claimed_account, present.payment_id AS claimed_id
  )
  SELECT ${paymentColumns} FROM payments 
  JOIN claimed ON account_id = claimed_account AND id = claimed_id ORDER BY release_due_at_ms, row`);
/** Also what is left of relayers that are gone. */
const dropClaims = statement('DELETE FROM release_claims WHERE relayer = $1 OR ends_at < clock_timestamp()');
const markCarried = statement(`
  UPDATE payments SET relay_batch_id = $3 FROM ${askedSql}
  WHERE payments.account_id = asked.account_id AND payments.id = asked.id AND relay_batch_id IS NULL`);
const freeCarried = statement('UPDATE payments SET relay_batch_id = NULL WHERE relay_batch_id = $1');

export function createRelayStore(database: Database, decider: PaymentDecider): RelayStore {
  async function openBatch(
    connection: Connection,
    batch: Omit<RelayBatch, 'id'>,
    decide: Decide,
  ): Promise<RelayBatch> {
    const id = await insertBatch(connection, batch);
    const payments = await findPaymentsOf(connection, batch);
    if (batch.kind === 'forward') {
      await lockPayments(connection, payments);
      await carryPayments(connection, id, payments);
    }
    await decider.decideAll(connection, payments, decide);
    return { ...batch, id };
  }

  async function replaceBatch(
    connection: Connection,
    batchId: number,
    replacement: Omit<RelayBatch, 'id'>,
    closedAtMs: number,
    decide: Decide,
  ): Promise<RelayBatch> {
    const batch = await requireOpenBatch(connection, batchId);
    checkReplacement(batch, replacement);
    await markClosed(connection, batchId, 'replaced', closedAtMs);
    const id = await insertBatch(connection, replacement);
    const payments = await findPaymentsOf(connection, batch);
    await lockPayments(connection, payments);
    await connection.execute(freeCarried, [batchId]);
    const kept = new Set(replacement.paymentIds);
    if (replacement.kind === 'forward') {
      await carryPayments(
        connection,
        id,
        payments.filter((payment) => kept.has(payment.id)),
      );
    }
    await decider.decideAll(connection, payments, decide);
    return { ...replacement, id };
  }

  async function closeBatch(
    connection: Connection,
    batchId: number,
    outcome: string,
    closedAtMs: number,
    decide: Decide,
  ): Promise<void> {
    const batch = await requireOpenBatch(connection, batchId);
    await markClosed(connection, batchId, outcome, closedAtMs);
    const payments = await findPaymentsOf(connection, batch);
    await lockPayments(connection, payments);
    await connection.execute(freeCarried, [batchId]);
    await decider.decideAll(connection, payments, decide);
  }

  return {
    async claimDueReleases(relayer, nowMs, limit, durationMs) {
      checkListLimit(limit);
      const values = [relayer, nowMs, limit, durationMs];
      return (await database.query<unknown[]>(claimDue, values)).map(paymentOfRow);
    },
    async dropClaims(relayer) {
      await database.execute(dropClaims, [relayer]);
    },
    listOpenBatchesOf: (relayer) => listOpenBatchesOf(database, relayer),
    listRelayersInFlight: () => listRelayersInFlight(database),
    findNextNonce: async (relayer) =>
      nextNonceOf(await database.query<Parameters<typeof nextNonceOf>[0][number]>(selectNewest, [relayer])),
    async listOpenBatches(limit) {
      checkListLimit(limit);
      return listOpenBatches(database, limit);
    },
    async openBatch(batch, decide) {
      checkNewBatch(batch);
      return database.transaction((connection) => openBatch(connection, batch, decide));
    },
    async replaceBatch(batchId, replacement, closedAtMs, decide) {
      checkNewBatch(replacement);
      return database.transaction((connection) =>
        replaceBatch(connection, batchId, replacement, closedAtMs, decide),
      );
    },
    addAttempt: (batchId, attempt) =>
      database.transaction(async (connection) => {
        await requireOpenBatch(connection, batchId);
        await addAttempt(connection, batchId, attempt);
      }),
    closeBatch: (batchId, outcome, closedAtMs, decide) =>
      database.transaction((connection) => closeBatch(connection, batchId, outcome, closedAtMs, decide)),
  };
}

/** Of payments that are locked. */
async function carryPayments(
  connection: Connection,
  batchId: number,
  payments: readonly PaymentReference[],
): Promise<void> {
  const carried = await connection.execute(markCarried, [...askedPayments(payments), batchId]);
  // Fewer: there is no such payment, or another batch carries it.
  if (carried !== payments.length) throw new Error(`a payment cannot be carried by batch ${batchId}`);
}

/** A batch names its payments by their ids alone, whichever accounts they are of. */
async function findPaymentsOf(
  connection: Connection,
  { paymentIds }: Pick<RelayBatch, 'paymentIds'>,
): Promise<PaymentReference[]> {
  const payments = await findReferences(connection, paymentIds);
  if (payments.length !== paymentIds.length) throw new Error('there is no such payment to relay');
  return payments;
}

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
  `SELECT ${batchColumns} FROM relay_batches
   WHERE relayer = $1 AND outcome IS NULL ORDER BY nonce LIMIT ${MAXIMUM_LISTED}`,
);
const selectRelayers = statement(
  `SELECT DISTINCT relayer FROM relay_batches WHERE outcome IS NULL ORDER BY relayer LIMIT ${MAXIMUM_LISTED}`,
);
const selectNewest = statement(
  `SELECT nonce, outcome FROM relay_batches WHERE relayer = $1 ORDER BY id DESC LIMIT ${MAXIMUM_LISTED}`,
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

async function listOpenBatchesOf(connection: Connection, relayer: string): Promise<RelayBatch[]> {
  return (await connection.query<BatchRow>(selectOpenOfRelayer, [relayer])).map(batchOfRow);
}

async function listRelayersInFlight(connection: Connection): Promise<string[]> {
  return (await connection.query<{ relayer: string }>(selectRelayers, [])).map(({ relayer }) => relayer);
}

/** The oldest first. */
async function listOpenBatches(connection: Connection, limit: number): Promise<RelayBatch[]> {
  return (await connection.query<BatchRow>(selectAllOpen, [limit])).map(batchOfRow);
}

/** Returns the new batch's id. @throws when one with its nonce is open, also one that is being committed */
async function insertBatch(connection: Connection, batch: Omit<RelayBatch, 'id'>): Promise<number> {
  const { relayer, nonce, kind, rescueToken, gasLimit, createdAtMs } = batch;
  const values = [relayer, nonce, kind, rescueToken, gasLimit, createdAtMs];
  const [row] = await connection.query<{ id: number }>(insert, values).catch((error: unknown) => {
    throw isUniqueViolation(error)
      ? new RelayConflictError(`relayer ${relayer} has a batch in flight at nonce ${nonce}`)
      : error;
  });
  const { id } = row as { id: number };
  await connection.execute(insertPayments, [id, batch.paymentIds]);
  for (const attempt of batch.attempts) await addAttempt(connection, id, attempt);
  return id;
}

/** @throws when no batch with this id is open */
async function requireOpenBatch(connection: Connection, batchId: number): Promise<RelayBatch> {
  const [row] = await connection.query<BatchRow>(selectOpen, [batchId]);
  if (row === undefined) throw new RelayConflictError(`there is no open relay batch ${batchId}`);
  return batchOfRow(row);
}

async function addAttempt(connection: Connection, batchId: number, attempt: RelayAttempt): Promise<void> {
  const { hash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, signedAtMs } = attempt;
  const values = [batchId, hash, rawTransaction, maxFeePerGas, maxPriorityFeePerGas, signedAtMs];
  await connection.execute(insertAttempt, values);
}

async function markClosed(
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
