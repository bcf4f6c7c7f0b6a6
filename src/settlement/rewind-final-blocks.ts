import { invalidField, ServiceError } from '../payment/errors.ts';
import type { Decide } from '../payment/payment-store.ts';
import { ChainUnavailableError, type ChainView } from './chain/chain.ts';
import type { BlockReference, ObservationStore } from './settlement-store.ts';

export interface RewindContext {
  readonly observations: ObservationStore;
  readonly decide: Decide;
  /** Called when the chain no longer has blocks that were final. */
  readonly onRewind: (from: BlockReference, to: BlockReference) => void;
}

/** Number of blocks to go back below the oldest checkpoint if the chain lacks all of them: about an hour. */
const BELOW_CHECKPOINTS = 2_000;

/** Maximum checkpoints to compare: all that a store keeps. */
const MAXIMUM_CHECKPOINTS_COMPARED = 200;

/** Cursor that is off the chain, the endpoint's block at its height, and the final block that another host confirms. */
interface LostCursor {
  readonly cursor: BlockReference;
  readonly block: BlockReference;
  readonly final: BlockReference | null;
}

/**
 * Moves the cursor back after the chain lost final blocks, to the newest checkpoint that remains or to a lower block
 * that another host confirms. Throws `ChainUnavailableError` unless another host agrees on the loss. A single
 * configured host is followed only if that reverses no payment.
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
  const confirmation = await view.confirmReplacement(block);
  if (confirmation === 'unconfirmed')
    throw new ChainUnavailableError(`no other endpoint has lost block ${cursor.number}, which was final`);
  const common = await findCheckpoint(observations, view);
  if (confirmation === 'alone') {
    if (common === null || !(await isEmptyRange(observations, common, cursor)))
      throw new ChainUnavailableError(
        `the only host has lost block ${cursor.number}, which was final, and payments rest on it: ${WAY_OUT}`,
      );
  }
  const to = common ?? (await findBelow(observations, view, cursor));
  await observations.rewindTo(to, decide);
  onRewind(cursor, to);
  return to;
}

const WAY_OUT =
  'correct POLYGON_RPC_URL, or add a host of another company; if both agree, final blocks are scanned again ' +
  '(card-checkout chain rewind does so on the word of one)';

async function findCheckpoint(
  observations: ObservationStore,
  view: ChainView,
): Promise<BlockReference | null> {
  for (const checkpoint of await observations.listCheckpoints(MAXIMUM_CHECKPOINTS_COMPARED)) {
    const block = await view.readBlock(checkpoint.number);
    if (block?.hash === checkpoint.hash) return checkpoint;
  }
  return null;
}

async function findBelow(
  observations: ObservationStore,
  view: ChainView,
  cursor: BlockReference,
): Promise<BlockReference> {
  const oldest = (await observations.listCheckpoints(MAXIMUM_CHECKPOINTS_COMPARED)).at(-1) ?? cursor;
  const below = await view.readBlock(Math.max(0, oldest.number - BELOW_CHECKPOINTS));
  if (below !== null && (await view.confirmBlock(below))) return below;
  throw new ChainUnavailableError('the chain has none of the final blocks that were scanned before');
}

/** Returns whether no deposit or release is recorded in blocks (from, final]. */
async function isEmptyRange(
  observations: ObservationStore,
  from: BlockReference,
  final: BlockReference,
): Promise<boolean> {
  const nothing = { scannedTo: final.number, deposits: [], releases: [] };
  const { deposits, releases } = await observations.listVanished({ from, final, ...nothing });
  return deposits.length + releases.length === 0;
}

/**
 * Moves the cursor back on an operator's request, to the given block or the newest checkpoint that the chain still has.
 * Throws `not_found` if the chain has no such block, and `invalid_request` for a block that is not below the cursor.
 */
export async function rewindByHand(
  { observations, decide }: Pick<RewindContext, 'observations' | 'decide'>,
  view: ChainView,
  blockNumber: number | null,
): Promise<{ readonly from: BlockReference; readonly to: BlockReference }> {
  const from = await observations.readCursor();
  if (from === null) throw new ServiceError('not_found', 'No block has been scanned yet.');
  if (blockNumber !== null && blockNumber >= from.number)
    throw invalidField('block', `must be below ${from.number}, which is the newest scanned block`);
  const to =
    blockNumber === null ? await findCheckpoint(observations, view) : await view.readBlock(blockNumber);
  if (to === null)
    throw new ServiceError(
      'not_found',
      blockNumber === null
        ? 'The chain has none of the last scanned blocks: name one with --block, from before the first wrong one.'
        : `The chain has no block ${blockNumber}.`,
    );
  await observations.rewindTo(to, decide);
  return { from, to };
}
