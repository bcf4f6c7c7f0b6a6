import type { RelayBatch } from '../domain/ports/settlement-store.ts';

/** Checks of both engines before they store a relay batch. */

type NewBatch = Omit<RelayBatch, 'id'>;

/** Maximum number of batches, or relayers, in one answer. */
export const MAXIMUM_LISTED = 200;

/** Throws `RangeError` for a batch without a payment, unless it is a self-transfer, or without a signed attempt. */
export function checkNewBatch({ kind, paymentIds, attempts }: NewBatch): void {
  const isEmpty = paymentIds.length === 0;
  if (isEmpty !== (kind === 'self_transfer') || attempts.length === 0) {
    throw new RangeError('a relay batch needs a signed attempt, and a payment unless it is a self-transfer');
  }
}

/** The nonce after the highest of these batches, the newest first, down to one that was abandoned; null for none. */
export function nextNonceOf(
  newest: readonly { readonly nonce: number; readonly outcome: string | null }[],
): number | null {
  let next: number | null = null;
  for (const { nonce, outcome } of newest) {
    if (outcome === 'abandoned') break;
    next = Math.max(next ?? 0, nonce + 1);
  }
  return next;
}

/** Throws `RangeError` unless one of the two batches can be mined at most, and the new one adds no payment. */
export function checkReplacement(batch: RelayBatch, replacement: NewBatch): void {
  const isSame =
    batch.relayer === replacement.relayer &&
    batch.nonce === replacement.nonce &&
    (batch.kind === replacement.kind || replacement.kind === 'self_transfer');
  const carried = new Set(batch.paymentIds);
  if (isSame && replacement.paymentIds.every((id) => carried.has(id))) return;
  throw new RangeError(
    `relay batch ${batch.id} is replaced at its own nonce by some of its own payments only`,
  );
}
