import { ChainUnavailableError, type ChainView } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/settlement-store.ts';
import { areConfirmed, readPaymentLogs, type WatchDepositsContext } from './watch-deposits.ts';

/** Final blocks: so many up to the cursor, or these as far as the cursor has passed them. */
type BlocksBelowCursor =
  | { readonly depthBlocks: number }
  | { readonly fromBlock: number; readonly toBlock: number };

export interface Rescan {
  /** Rows that were missing. */
  readonly added: number;
  /** The newest block that was read again; null where none was. */
  readonly rescannedTo: BlockReference | null;
}

/**
 * Reads final blocks a second time and adds what the first reading missed: a node that lags behind answers with an
 * empty list, not with an error, and one that lies leaves out what it likes. So another endpoint is asked than the
 * watcher asks, or each of them.
 */
export async function rescanFinalBlocks(
  context: WatchDepositsContext,
  blocks: BlocksBelowCursor,
  options: { readonly isEachAsked?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Rescan> {
  const rescan = (view: ChainView) => rescanAtOne(context, view, blocks, options.signal);
  if (options.isEachAsked !== true) return context.chain.withOtherView(rescan);
  const rescans = await context.chain.withEachView(rescan);
  return {
    added: rescans.reduce((sum, { added }) => sum + added, 0),
    rescannedTo: rescans.at(-1)?.rescannedTo ?? null,
  };
}

async function rescanAtOne(
  context: WatchDepositsContext,
  view: ChainView,
  blocks: BlocksBelowCursor,
  signal: AbortSignal | undefined,
): Promise<Rescan> {
  const cursor = await context.observations.readCursor();
  if (cursor === null) return { added: 0, rescannedTo: null };
  await requireSameChain(view, cursor);
  await context.known.catchUp();
  let added = 0;
  let rescannedTo: BlockReference | null = null;
  let { fromBlock = 0, toBlock = cursor.number } = 'depthBlocks' in blocks ? {} : blocks;
  if ('depthBlocks' in blocks) fromBlock = Math.max(0, cursor.number - blocks.depthBlocks);
  toBlock = Math.min(toBlock, cursor.number);
  while (fromBlock <= toBlock && signal?.aborted !== true) {
    const query = { fromBlock, toBlock, recipients: context.known.book.addresses };
    const logs = await readPaymentLogs(context.known, view, query);
    // Asked again after reading: what was read is of the chain that we know.
    await requireSameChain(view, cursor);
    const missing = await context.observations.listMissing(logs.rows);
    if (await areConfirmed(view, missing, cursor)) {
      added += (await context.observations.recordMissed({ from: cursor, ...missing }, context.decide)).added;
    }
    rescannedTo = logs.scannedTo;
    fromBlock = logs.scannedTo.number + 1;
  }
  return { added, rescannedTo };
}

/** Rows of final blocks count at once, so they are taken only from a chain that others confirm and that has our cursor. */
async function requireSameChain(view: ChainView, cursor: BlockReference): Promise<void> {
  const { final } = await view.readHeads();
  if (final === null)
    throw new ChainUnavailableError(`no second host confirms a final block of ${view.source}`);
  const block = await view.readBlock(cursor.number);
  if (block?.hash !== cursor.hash)
    throw new ChainUnavailableError(`${view.source} is not on the chain that was scanned`);
}
