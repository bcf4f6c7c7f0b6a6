import type { DatabaseSync } from 'node:sqlite';
import type { Payment } from '../../domain/payment.ts';
import type { RelayStore } from '../../domain/ports/settlement-store.ts';
import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../domain/settle.ts';
import { paymentColumns, paymentOfRow } from '../payment-rows.ts';
import { checkListLimit } from '../store.ts';
import type { GroupRead } from './group-commit.ts';

/**
 * Takes the time. A walk along the partial index, which holds few rows: what is due, and what waits after a
 * failed try. That it is not null has to be said: the index is not found through the alternatives.
 */
const selectDueSql = `SELECT ${paymentColumns} FROM payments
  WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
    release_due_at_ms <= ?1 OR release_due_at_ms > ?1 + ${LONGEST_DELAY_MS} OR
    (release_due_at_ms > ?1 + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND no_op_batches = 0))
  ORDER BY release_due_at_ms, row`;

/**
 * Which relayer prepares the release of which payment. In memory: one process has the data for itself, and its claims
 * have to end with it.
 */
export function createReleaseClaims(
  database: DatabaseSync,
  reads: GroupRead,
): Pick<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  const selectDue = database.prepare(selectDueSql);
  selectDue.setReturnArrays(true);
  const claims = new Map<string, { readonly relayer: string; readonly endsAtMs: number }>();

  function dropWhere(isOver: (claim: { relayer: string; endsAtMs: number }) => boolean): void {
    for (const [id, claim] of claims) if (isOver(claim)) claims.delete(id);
  }

  /** Due payments are read as far as they are needed. */
  function claimDue(relayer: string, nowMs: number, limit: number, durationMs: number): Payment[] {
    const startedAtMs = performance.now();
    dropWhere(({ endsAtMs }) => endsAtMs <= startedAtMs);
    const claimed: Payment[] = [];
    for (const row of selectDue.iterate(nowMs)) {
      const payment = paymentOfRow(row);
      if ((claims.get(payment.id)?.relayer ?? relayer) !== relayer) continue;
      claims.set(payment.id, { relayer, endsAtMs: startedAtMs + durationMs });
      claimed.push(payment);
      if (claimed.length === limit) break;
    }
    return claimed;
  }

  return {
    claimDueReleases: (relayer, nowMs, limit, durationMs) =>
      reads.run(() => {
        checkListLimit(limit);
        return claimDue(relayer, nowMs, limit, durationMs);
      }),
    dropClaims: async (relayer) => dropWhere((claim) => claim.relayer === relayer),
  };
}
