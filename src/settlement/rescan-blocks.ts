import { ChainUnavailableError, type ChainView } from './chain/chain.ts';
import type { MovedRows } from './journal.ts';
import { type BlockReference, ScanRefusedError } from './settlement-store.ts';
import {
  areConfirmed,
  listAllAddresses,
  readPaymentLogs,
  type WatchDepositsContext,
} from './watch-deposits.ts';

/** Final blocks to read again: the last `depthBlocks` up to the cursor, or a range, cut off at the cursor. */
type BlocksBelowCursor =
  | { readonly depthBlocks: number }
  | { readonly fromBlock: number; readonly toBlock: number };

export interface Rescan {
  readonly added: number;
  /** Newest block that was read again; null if none was. */
  readonly rescannedTo: BlockReference | null;
  /** Rows that contradict recorded final ones, one sentence each; at most `MAXIMUM_CONTRADICTIONS` per endpoint. */
  readonly contradictions: readonly string[];
}

const MAXIMUM_CONTRADICTIONS = 10;

/** Reads final blocks again at another host, or at every endpoint, and adds missed rows. Nodes may lag or omit logs. */
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
    contradictions: rescans.flatMap(({ contradictions }) => contradictions),
  };
}

async function rescanAtOne(
  context: WatchDepositsContext,
  view: ChainView,
  blocks: BlocksBelowCursor,
  signal: AbortSignal | undefined,
): Promise<Rescan> {
  const cursor = await context.observations.readCursor();
  if (cursor === null) return { added: 0, rescannedTo: null, contradictions: [] };
  await requireSameChain(view, cursor);
  const recipients = await listAllAddresses(context.payments);
  let added = 0;
  const contradictions: string[] = [];
  let rescannedTo: BlockReference | null = null;
  let { fromBlock = 0, toBlock = cursor.number } = 'depthBlocks' in blocks ? {} : blocks;
  if ('depthBlocks' in blocks) fromBlock = Math.max(0, cursor.number - blocks.depthBlocks);
  toBlock = Math.min(toBlock, cursor.number);
  while (fromBlock <= toBlock && signal?.aborted !== true) {
    const logs = await readPaymentLogs(context.payments, view, { fromBlock, toBlock, recipients });
    const missing = await context.observations.listMissing(logs.rows);
    const isMissing = Object.values(missing).some(({ length }) => length > 0);
    // Checks the cursor again, because the endpoint's chain may have changed during the read.
    if (isMissing || logs.scannedTo.number === toBlock) await requireSameChain(view, cursor);
    if (isMissing && (await areConfirmed(view, missing, cursor))) {
      const missed = await recordMissed(context, cursor, missing);
      added += missed.added;
      const named = missed.contradictions.map((contradiction) => `${view.source}: ${contradiction}`);
      contradictions.push(...named.slice(0, MAXIMUM_CONTRADICTIONS - contradictions.length));
    } else if (isMissing && (await view.readFinal()) === null)
      throw new ChainUnavailableError(`no second host confirms a final block of ${view.source}`);
    rescannedTo = logs.scannedTo;
    context.onRescan?.(toBlock - rescannedTo.number);
    fromBlock = logs.scannedTo.number + 1;
  }
  return { added, rescannedTo, contradictions };
}

/** Adds missed rows. Skips those that contradict final ones, so that a faulty endpoint cannot stop every rescan. */
async function recordMissed(
  { observations, decide }: WatchDepositsContext,
  from: BlockReference,
  missing: MovedRows,
): Promise<{ readonly added: number; readonly contradictions: readonly string[] }> {
  const record = async (rows: Partial<MovedRows>) => {
    const missed = { from, deposits: [], releases: [], rescues: [], ...rows };
    return (await observations.recordMissed(missed, decide)).added;
  };
  try {
    return { added: await record(missing), contradictions: [] };
  } catch (error) {
    if (!isContradiction(error)) throw error;
  }
  let added = 0;
  const contradictions: string[] = [];
  for (const rows of [
    ...missing.deposits.map((row) => ({ deposits: [row] })),
    ...missing.releases.map((row) => ({ releases: [row] })),
    { rescues: missing.rescues ?? [] },
  ]) {
    try {
      added += await record(rows);
    } catch (error) {
      if (!isContradiction(error)) throw error;
      contradictions.push(error.message);
    }
  }
  return { added, contradictions };
}

function isContradiction(error: unknown): error is ScanRefusedError {
  return error instanceof ScanRefusedError && error.conflict === 'rows';
}

/** Throws unless the endpoint has the cursor's confirmed block, because rows of final blocks count immediately. */
async function requireSameChain(view: ChainView, cursor: BlockReference): Promise<void> {
  const block = await view.readBlock(cursor.number);
  if (block?.hash !== cursor.hash)
    throw new ChainUnavailableError(`${view.source} is not on the chain that was scanned`);
}
