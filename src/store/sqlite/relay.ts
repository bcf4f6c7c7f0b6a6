import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../../domain/payment.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import type { RelayAttempt, RelayBatch, RelayStore } from '../../domain/ports/relay-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../domain/release-delays.ts';
import { paymentOfRow } from '../payment-rows.ts';
import { checkNewBatch, checkReplacement } from '../relay-batches.ts';
import { RelayConflictError } from '../store-errors.ts';
import { checkListLimit } from '../store-limits.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';
import type { PaymentDecider } from './payment-decider.ts';
import { paymentColumns } from './payment-rows.ts';
import { createRelayRows } from './relay-rows.ts';
import { createReleaseClaims } from './release-claims.ts';

/**
 * Takes the time. A walk along the partial index, which holds few rows: what is due, and what waits after a
 * failed try. That it is not null has to be said: the index is not found through the alternatives.
 */
const selectDueSql = `SELECT ${paymentColumns} FROM payments
  WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
    release_due_at_ms <= ?1 OR release_due_at_ms > ?1 + ${LONGEST_DELAY_MS} OR
    (release_due_at_ms > ?1 + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND fruitless_batches = 0))
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
    const open = rows.findOpen(batch.relayer);
    if (open !== null)
      throw new RelayConflictError(`relayer ${batch.relayer} has batch ${open.id} in flight already`);
    const id = rows.insert(batch);
    if (batch.kind === 'rescue') return { ...batch, id };
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
    findOpenBatch: (relayer) => reads.run(() => rows.findOpen(relayer)),
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
