import type { BlockReference } from '../domain/ports/settlement-store.ts';
import { NO_FINAL_BLOCK } from './payments.ts';
import { raw, run, type Script } from './scripts.ts';
import { MAXIMUM_CHECKPOINTS } from './store.ts';
import { ObservationConflictError } from './store-errors.ts';
import { checkpointTable } from './tables.ts';

/** Checkpoints: final blocks of the chain that was scanned, the newest of which is the cursor. A rewind removes some. */

/** The cursor: the newest of the final blocks that were scanned up to. */
export function newestCheckpoint(): Script<BlockReference | null> {
  return checkpointTable.selectOne`ORDER BY number DESC LIMIT 1`;
}

export function* newestFinalNumber(): Script<number> {
  return (yield* newestCheckpoint())?.number ?? NO_FINAL_BLOCK;
}

/** Moves the cursor on, and forgets the oldest checkpoint when there are too many. */
export function* addCheckpoint(block: BlockReference): Script<void> {
  if (isCursor(yield* newestCheckpoint(), block)) return;
  yield* checkpointTable.insert(block);
  yield* run`
    DELETE FROM checkpoints WHERE number <=
      (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${raw(MAXIMUM_CHECKPOINTS)})`;
}

/**
 * A caller has read the chain up to this block: what it found counts only while the block is among those scanned.
 *
 * @throws ObservationConflictError when the chain was rewound below the block
 */
export function* requireCheckpoint({ number, hash }: BlockReference): Script<void> {
  const checkpoint = yield* checkpointTable.selectOne`WHERE number = ${number}`;
  if (checkpoint?.hash === hash) return;
  throw new ObservationConflictError(`block ${number} (${hash}) is no checkpoint any more`);
}

/** @throws ObservationConflictError when another writer has moved the cursor */
export function requireCursor(cursor: BlockReference | null, from: BlockReference): void {
  if (cursor?.number === from.number && cursor.hash === from.hash) return;
  const found = cursor === null ? 'not set' : `at block ${cursor.number} (${cursor.hash})`;
  throw new ObservationConflictError(
    `a scan began at block ${from.number} (${from.hash}), but the cursor is ${found}`,
  );
}

/**
 * Whether the block is the cursor already: the chain's final block has not moved since.
 *
 * @throws ObservationConflictError when the cursor is another block of the same number
 */
function isCursor(cursor: BlockReference | null, block: BlockReference): boolean {
  if (cursor?.number !== block.number) return false;
  if (cursor.hash === block.hash) return true;
  throw new ObservationConflictError(
    `final block ${block.number} was ${cursor.hash} and is now ${block.hash}`,
  );
}
