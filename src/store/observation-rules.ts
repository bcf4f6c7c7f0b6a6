import type { MovedRows } from '../domain/journal.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Decide } from '../domain/ports/payment-store.ts';
import type { BlockReference, ScanRecord } from '../domain/ports/settlement-store.ts';
import { ObservationConflictError } from './store-errors.ts';

/** Checks of every engine on new observations of the chain, before it writes anything. */

/** No block is final before the first scan. */
export const NO_FINAL_BLOCK = -1;

/** The row of the watermarks' table up to which the expiry step has come. */
export const EXPIRY_WATERMARK = 'expiry';

type FoundRows = Pick<ScanRecord, 'deposits' | 'releases' | 'rescues'>;

/** @throws RangeError when a scan contradicts itself */
export function checkScan(scan: ScanRecord): void {
  const { from, final, scannedTo } = scan;
  if (final.number < from.number || scannedTo < final.number) {
    throw new RangeError(`a scan from ${from.number} to ${scannedTo} cannot be final up to ${final.number}`);
  }
  for (const { blockNumber } of [...scan.deposits, ...scan.releases, ...(scan.rescues ?? [])]) {
    if (blockNumber <= from.number || blockNumber > scannedTo) {
      throw new RangeError(`block ${blockNumber} is outside the scan from ${from.number} to ${scannedTo}`);
    }
  }
}

/** Rows in final blocks; the next scan replaces the others. */
export function finalRows({ deposits, releases, rescues = [] }: MovedRows, finalNumber: number): MovedRows {
  const isFinal = ({ blockNumber }: { readonly blockNumber: number }) => blockNumber <= finalNumber;
  return {
    deposits: deposits.filter(isFinal),
    releases: releases.filter(isFinal),
    rescues: rescues.filter(isFinal),
  };
}

/** @throws ObservationConflictError when another writer has moved the cursor */
export function requireCursor(cursor: BlockReference | null, from: BlockReference): void {
  if (cursor?.number === from.number && cursor.hash === from.hash) return;
  const found = cursor === null ? 'not set' : `at block ${cursor.number} (${cursor.hash})`;
  throw new ObservationConflictError(
    `a scan began at block ${from.number} (${from.hash}), but the cursor is ${found}`,
  );
}

/** @throws ObservationConflictError when the block that a second reading began at is no checkpoint (`hash` is the one there) */
export function requireCheckpoint(hash: string | null, from: BlockReference): void {
  if (hash === from.hash) return;
  throw new ObservationConflictError(`block ${from.number} (${from.hash}) is no checkpoint any more`);
}

/** @throws RangeError when what was missed is not in a final block: those above are scanned again anyway */
export function requireFinal(missed: FoundRows, finalNumber: number): void {
  for (const { blockNumber } of [...missed.deposits, ...missed.releases, ...(missed.rescues ?? [])]) {
    if (blockNumber <= finalNumber) continue;
    throw new RangeError(`block ${blockNumber} is not among the final blocks that were scanned`);
  }
}

/**
 * Whether the block is the cursor already: the chain's final block has not moved since.
 *
 * @throws ObservationConflictError when the cursor is another block of the same number
 */
export function isCursor(cursor: BlockReference | null, block: BlockReference): boolean {
  if (cursor?.number !== block.number) return false;
  if (cursor.hash === block.hash) return true;
  throw new ObservationConflictError(
    `final block ${block.number} was ${cursor.hash} and is now ${block.hash}`,
  );
}

/** The transaction of a row is recorded in another block. */
export function elsewhereError(
  transactionHash: string,
  recorded: number,
  found: number,
): ObservationConflictError {
  return new ObservationConflictError(
    `transaction ${transactionHash} is in block ${recorded} and was found in ${found}`,
    'rows',
  );
}

/** The log of a row is recorded with other contents. */
export function contentsError(transactionHash: string, logIndex: number): ObservationConflictError {
  return new ObservationConflictError(
    `log ${logIndex} of transaction ${transactionHash} was found with other contents`,
    'rows',
  );
}

/** A watermark that a payment lies beyond: a beginning of an id sorts just before it. */
export function watermarkBefore(id: PaymentId): string {
  return id.slice(0, -1);
}

/** Decides as asked, and keeps the watermark from passing a payment that the decision wants to see again. */
export function stopBeforeRevisited(to: string, decide: Decide): { decide: Decide; reached(): string } {
  let reached = to;
  return {
    decide(view) {
      const decision = decide(view);
      const below = watermarkBefore(view.payment.id);
      if (decision?.revisitExpiry === true && below < reached) reached = below;
      return decision;
    },
    reached: () => reached,
  };
}
