import { ChainUnavailableError, type ChainView } from '../domain/ports/chain.ts';
import type { Decide } from '../domain/ports/payment-store.ts';
import type { BlockReference, ObservationStore } from '../domain/ports/settlement-store.ts';

/**
 * Reorganizations of blocks that were final. Above the cursor none needs code of its own: each pass of the watcher
 * replaces what the last one saw there, and what is gone is not found again (`watch-deposits.ts`).
 */

export interface RewindContext {
  readonly observations: ObservationStore;
  /** Decides each payment that loses a row. */
  readonly decide: Decide;
  /** Called when the chain no longer has blocks that it had called final. */
  readonly onRewind: (from: BlockReference, to: BlockReference) => void;
}

/** How far below the oldest checkpoint the watcher begins again when the chain has no checkpoint: about an hour. */
const BELOW_CHECKPOINTS = 2_000;

/** The endpoint's block at the cursor, which is another one, and the final block that another host agrees on. */
interface LostCursor {
  readonly cursor: BlockReference;
  readonly block: BlockReference;
  readonly final: BlockReference | null;
}

/**
 * The chain lost final blocks: goes back to the newest checkpoint that it still has, which is the new cursor. Where it has
 * none, an endpoint lied about all of them while nothing contradicted it: back to a block below them that another host
 * has as well. One endpoint on a fork is no reason to forget what was final: throws `ChainUnavailableError` without
 * agreement, so that another one is asked.
 */
export async function rewind(
  { observations, decide, onRewind }: RewindContext,
  view: ChainView,
  { cursor, block, final }: LostCursor,
): Promise<BlockReference> {
  if (final === null)
    throw new ChainUnavailableError(
      'the endpoint contradicts what was final, and no other endpoint confirms it',
    );
  if (!(await view.confirmBlock(block)))
    throw new ChainUnavailableError(`no other endpoint has lost block ${cursor.number}, which was final`);
  const to = await findCommonBlock(observations, view, cursor);
  await observations.rewindTo(to, decide);
  onRewind(cursor, to);
  return to;
}

async function findCommonBlock(
  observations: ObservationStore,
  view: ChainView,
  cursor: BlockReference,
): Promise<BlockReference> {
  const checkpoints = await observations.listCheckpoints(200);
  for (const checkpoint of checkpoints) {
    const block = await view.readBlock(checkpoint.number);
    if (block?.hash === checkpoint.hash) return checkpoint;
  }
  const oldest = checkpoints.at(-1) ?? cursor;
  const below = await view.readBlock(Math.max(0, oldest.number - BELOW_CHECKPOINTS));
  if (below !== null && (await view.confirmBlock(below))) return below;
  throw new ChainUnavailableError('the chain has none of the final blocks that were scanned before');
}
