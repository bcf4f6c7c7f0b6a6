import type { PaymentReference } from '../../domain/payment.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import type { RelayBatch, RelayStore } from '../../domain/ports/relay-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../domain/release-delays.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { checkNewBatch, checkReplacement } from '../relay-batches.ts';
import { checkListLimit } from '../store-limits.ts';
import { askedPayments, askedSql, findReferences } from './asked-payments.ts';
import type { Connection, Database } from './open-database.ts';
import { lockPayments, type PaymentDecider } from './payment-decider.ts';
import { paymentColumns } from './payment-rows.ts';
import {
  addAttempt,
  findNextNonce,
  findOpenBatch,
  insertBatch,
  listOpenBatches,
  markClosed,
  requireOpenBatch,
} from './relay-rows.ts';
import { arrayStatement, statement } from './statement.ts';

/**
 * A walk along the partial index, which holds few rows: what is due, and what waits after a failed try. What another
 * relayer claims at this moment is skipped; where its claim was committed in between, ours loses against its row.
 */
const claimDue = arrayStatement(`
  WITH due AS (
    SELECT account_id, id FROM payments
    WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
      release_due_at_ms <= $2::bigint OR release_due_at_ms > $2::bigint + ${LONGEST_DELAY_MS} OR
      (release_due_at_ms > $2::bigint + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND fruitless_batches = 0))
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
    if (batch.kind === 'forward') {
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
    findNextNonce: (relayer) => findNextNonce(database, relayer),
    findOpenBatch: (relayer) => findOpenBatch(database, relayer),
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
