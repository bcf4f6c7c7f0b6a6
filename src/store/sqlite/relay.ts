import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import type { RelayAttempt, RelayBatch, RelayStore } from '../../domain/ports/settlement-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../domain/settle.ts';
import { type AttemptRow, attemptOfRow } from '../observation-rules.ts';
import { paymentColumns, paymentOfRow } from '../payment-rows.ts';
import { checkNewBatch, checkReplacement, MAXIMUM_LISTED, nextNonceOf } from '../relay-batches.ts';
import { checkListLimit } from '../store.ts';
import { RelayConflictError } from '../store-errors.ts';
import type { GroupCommit, GroupRead } from './group-commit.ts';
import type { PaymentDecider } from './payment-decider.ts';

/**
 * Takes the time. A walk along the partial index, which holds few rows: what is due, and what waits after a
 * failed try. That it is not null has to be said: the index is not found through the alternatives.
 */
const selectDueSql = `SELECT ${paymentColumns} FROM payments
  WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
    release_due_at_ms <= ?1 OR release_due_at_ms > ?1 + ${LONGEST_DELAY_MS} OR
    (release_due_at_ms > ?1 + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND no_op_batches = 0))
  ORDER BY release_due_at_ms, row`;

export function createRelayStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  decider: PaymentDecider,
): RelayStore {
  const rows = createRelayRows(database);
  const selectDue = database.prepare(selectDueSql);
  selectDue.setReturnArrays(true);
  const claims = createReleaseClaims();
  const markCarried = database.prepare(
    'UPDATE payments SET relay_batch_id = ? WHERE id = ? AND relay_batch_id IS NULL',
  );
  const freeCarried = database.prepare('UPDATE payments SET relay_batch_id = NULL WHERE relay_batch_id = ?');

  /** Inserts the batch and marks its payments as carried by it; decides nothing. */
  function insertBatch(batch: Omit<RelayBatch, 'id'>): RelayBatch {
    checkNewBatch(batch);
    const { relayer, nonce } = batch;
    const openId = rows.findOpen(relayer, nonce);
    if (openId !== null)
      throw new RelayConflictError(`relayer ${relayer} has batch ${openId} in flight at nonce ${nonce}`);
    const id = rows.insert(batch);
    if (batch.kind !== 'forward') return { ...batch, id };
    for (const paymentId of batch.paymentIds) {
      // None changed: there is no such payment, or another batch carries it.
      if (markCarried.run(id, paymentId).changes !== 1) {
        throw new Error(`payment ${paymentId} cannot be carried by a batch`);
      }
    }
    return { ...batch, id };
  }

  function openBatch(batch: Omit<RelayBatch, 'id'>, decide: Decide): RelayBatch {
    const opened = insertBatch(batch);
    for (const paymentId of batch.paymentIds) decideOne(paymentId, decide);
    return opened;
  }

  function replaceBatch(
    batchId: number,
    replacement: Omit<RelayBatch, 'id'>,
    closedAtMs: number,
    decide: Decide,
  ): RelayBatch {
    const batch = rows.close(batchId, 'replaced', closedAtMs);
    checkReplacement(batch, replacement);
    freeCarried.run(batchId);
    const opened = insertBatch(replacement);
    for (const paymentId of batch.paymentIds) decideOne(paymentId, decide);
    return opened;
  }

  function closeBatch(batchId: number, outcome: string, closedAtMs: number, decide: Decide): void {
    const batch = rows.close(batchId, outcome, closedAtMs);
    freeCarried.run(batchId);
    for (const paymentId of batch.paymentIds) decideOne(paymentId, decide);
  }

  function decideOne(paymentId: string, decide: Decide): void {
    if (decider.decide(paymentId, decide) === null)
      throw new Error(`there is no payment ${paymentId} to relay`);
  }

  /** Read as far as they are asked for. */
  function* duePayments(nowMs: number): Iterable<Payment> {
    for (const row of selectDue.iterate(nowMs)) yield paymentOfRow(row);
  }

  return {
    claimDueReleases: (relayer, nowMs, limit, durationMs) =>
      reads.run(() => {
        checkListLimit(limit);
        return claims.claim(relayer, duePayments(nowMs), limit, durationMs);
      }),
    dropClaims: async (relayer) => claims.drop(relayer),
    listOpenBatchesOf: (relayer) => reads.run(() => rows.listOpenOf(relayer)),
    listRelayersInFlight: () => reads.run(() => rows.listRelayers()),
    listOpenBatches: (limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return rows.listOpen(limit);
      }),
    findNextNonce: (relayer) => reads.run(() => rows.findNextNonce(relayer)),
    openBatch: (batch, decide) => writes.runTransaction(() => openBatch(batch, decide)),
    replaceBatch: (batchId, replacement, closedAtMs, decide) =>
      writes.runTransaction(() => replaceBatch(batchId, replacement, closedAtMs, decide)),
    addAttempt: (batchId: number, attempt: RelayAttempt) =>
      writes.runStatement(() => rows.addAttempt(batchId, attempt)),
    closeBatch: (batchId, outcome, closedAtMs, decide) =>
      writes.runTransaction(() => closeBatch(batchId, outcome, closedAtMs, decide)),
  };
}

/** Relay batches and what belongs to them. Synchronous, inside a read or a transaction. */
interface RelayRows {
  /** The id of the open batch with this nonce. */
  findOpen(relayer: string, nonce: number): number | null;
  /** By nonce. */
  listOpenOf(relayer: string): RelayBatch[];
  listRelayers(): string[];
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

function createRelayRows(database: DatabaseSync): RelayRows {
  const selectOpenId = database.prepare(
    'SELECT id FROM relay_batches WHERE relayer = ? AND nonce = ? AND outcome IS NULL',
  );
  const selectOpenOfRelayer = database.prepare(
    `SELECT ${batchColumns} FROM relay_batches
     WHERE relayer = ? AND outcome IS NULL ORDER BY nonce LIMIT ${MAXIMUM_LISTED}`,
  );
  const selectRelayers = database.prepare(
    `SELECT DISTINCT relayer FROM relay_batches WHERE outcome IS NULL ORDER BY relayer LIMIT ${MAXIMUM_LISTED}`,
  );
  const selectNewest = database.prepare(
    `SELECT nonce, outcome FROM relay_batches WHERE relayer = ? ORDER BY id DESC LIMIT ${MAXIMUM_LISTED}`,
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
    findOpen(relayer, nonce) {
      const row = selectOpenId.get(relayer, nonce) as { id: number } | undefined;
      return row?.id ?? null;
    },
    listOpenOf: (relayer) => (selectOpenOfRelayer.all(relayer) as unknown as BatchRow[]).map(batchOf),
    listRelayers: () => selectRelayers.all().map(({ relayer }) => String(relayer)),
    findNextNonce: (relayer) =>
      nextNonceOf(selectNewest.all(relayer) as unknown as Parameters<typeof nextNonceOf>[0]),
    listOpen: (limit) => (selectAllOpen.all(limit) as unknown as BatchRow[]).map(batchOf),
    insert(batch) {
      const { lastInsertRowid } = insertBatch.run(
        batch.relayer,
        batch.nonce,
        batch.kind,
        batch.rescueToken,
        batch.gasLimit.toString(),
        batch.createdAtMs,
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
        batchId,
        attempt.hash,
        attempt.rawTransaction,
        attempt.maxFeePerGas.toString(),
        attempt.maxPriorityFeePerGas.toString(),
        attempt.signedAtMs,
      );
    },
    list(batchId: number): RelayAttempt[] {
      return (select.all(batchId) as unknown as AttemptRow[]).map(attemptOfRow);
    },
  };
}

/** Which relayer prepares the release of which payment. */
interface ReleaseClaims {
  /** The first `limit` of the payments that no other relayer has claimed, now claimed by this one. */
  claim(relayer: string, payments: Iterable<Payment>, limit: number, durationMs: number): Payment[];
  drop(relayer: string): void;
}

/** In memory: one process has the data for itself, and its claims have to end with it. */
function createReleaseClaims(monotonicMs = () => performance.now()): ReleaseClaims {
  const claims = new Map<string, { readonly relayer: string; readonly endsAtMs: number }>();

  function dropWhere(isOver: (claim: { relayer: string; endsAtMs: number }) => boolean): void {
    for (const [id, claim] of claims) if (isOver(claim)) claims.delete(id);
  }

  return {
    claim(relayer, payments, limit, durationMs) {
      const nowMs = monotonicMs();
      dropWhere(({ endsAtMs }) => endsAtMs <= nowMs);
      const claimed: Payment[] = [];
      for (const payment of payments) {
        if ((claims.get(payment.id)?.relayer ?? relayer) !== relayer) continue;
        claims.set(payment.id, { relayer, endsAtMs: nowMs + durationMs });
        claimed.push(payment);
        if (claimed.length === limit) break;
      }
      return claimed;
    },
    drop: (relayer) => dropWhere((claim) => claim.relayer === relayer),
  };
}
