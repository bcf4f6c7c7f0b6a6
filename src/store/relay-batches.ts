import type { RelayBatch } from '../domain/ports/settlement-store.ts';

/** Checks of both engines before they store a relay batch. */

type NewBatch = Omit<RelayBatch, 'id'>;

/** Throws `RangeError` for a batch without a payment or without a signed attempt. */
export function checkNewBatch({ paymentIds, attempts }: NewBatch): void {
  if (paymentIds.length === 0 || attempts.length === 0) {
    throw new RangeError('a relay batch needs a payment and a signed attempt');
  }
}

/** Throws `RangeError` unless one of the two batches can be mined at most, and the new one adds no payment. */
export function checkReplacement(batch: RelayBatch, replacement: NewBatch): void {
  const isSame =
    batch.relayer === replacement.relayer &&
    batch.nonce === replacement.nonce &&
    batch.kind === replacement.kind;
  const carried = new Set(batch.paymentIds);
  if (isSame && replacement.paymentIds.every((id) => carried.has(id))) return;
  throw new RangeError(
    `relay batch ${batch.id} is replaced at its own nonce by some of its own payments only`,
  );
}
