import {
  type ChainHeads,
  type ChainReader,
  ChainUnavailableError,
  type ChainView,
  type ForwardedLog,
  type RescuedLog,
  type TransferLog,
} from '../domain/ports/chain.ts';
import type { Decide } from '../domain/ports/payment-store.ts';
import {
  type BlockReference,
  type ObservationStore,
  type RowOwner,
  type ScanRecord,
  ScanRefusedError,
} from '../domain/ports/settlement-store.ts';
import type { KnownAddresses } from './known-addresses.ts';

export interface WatchDepositsContext {
  readonly chain: ChainReader;
  readonly observations: ObservationStore;
  readonly known: KnownAddresses;
  /** Decides each payment that the scan touches. */
  readonly decide: Decide;
  /** Told when the chain no longer has blocks that it had called final. */
  readonly onRewind: (from: BlockReference, to: BlockReference) => void;
}

/** Progress of a pass. */
export interface WatchPass {
  readonly cursor: BlockReference;
  readonly latest: BlockReference;
  /** False while blocks are left that a further pass would cover at once. */
  readonly isCaughtUp: boolean;
}

/** Above the newest final block so many are read in a pass at most: while nothing becomes final, more cannot be kept. */
const MAXIMUM_UNFINAL_BLOCKS = 1_000;

/** How far below the oldest checkpoint the watcher begins again when the chain has no checkpoint: about an hour. */
const BELOW_CHECKPOINTS = 2_000;

/**
 * One pass over the chain: everything above the cursor is read again up to the newest block, the rows found replace
 * what the last pass saw there, and the cursor moves to the newest final block. A reorganisation therefore needs no
 * code of its own: what is gone is not found again. All that a pass changes is one transaction.
 */
export async function watchDeposits(context: WatchDepositsContext): Promise<WatchPass> {
  return context.chain.withView(async (view) => {
    const heads = await view.readHeads();
    const cursor = await verifiedCursor(context, view, heads.final);
    // Read after the heads: a customer who paid in a block up to them knew an address that was committed before.
    await context.known.catchUp();
    if (heads.latest.number <= cursor.number) {
      return { cursor, latest: heads.latest, isCaughtUp: true };
    }

    const logs = await readAboveCursor(context.known, view, cursor, heads);
    const reached = await confirmedFinal(view, cursor, heads.final, logs.scannedTo);
    // One endpoint's logs are not enough: unconfirmed, they stay provisional, and the next pass begins here again.
    const final = (await areConfirmed(view, logs.rows, reached)) ? reached : cursor;
    await recordScan(context, { from: cursor, final, scannedTo: logs.scannedTo.number, ...logs.rows });
    // Where the cursor does not move, a further pass would begin at the same block and read the same again.
    const isCaughtUp = logs.scannedTo.number >= heads.latest.number || final.number === cursor.number;
    return { cursor: final, latest: heads.latest, isCaughtUp };
  });
}

/** Rows that contradict final ones are the endpoint's mistake, also where nothing has confirmed them yet. */
async function recordScan({ observations, decide }: WatchDepositsContext, scan: ScanRecord): Promise<void> {
  try {
    await observations.recordScan(scan, decide);
  } catch (error) {
    if (!(error instanceof ScanRefusedError && error.conflict === 'rows')) throw error;
    throw new ChainUnavailableError(`the endpoint contradicts what is recorded: ${error.message}`, {
      cause: error,
    });
  }
}

/** Whether another host, where there is one, shows what was found in blocks that are to become final. */
function areConfirmed(view: ChainView, rows: OwnRows, final: BlockReference): Promise<boolean> {
  const isFinal = ({ blockNumber }: { readonly blockNumber: number }) => blockNumber <= final.number;
  const logs = {
    transfers: rows.deposits.filter(isFinal),
    forwarded: rows.releases.filter(isFinal),
    rescued: rows.rescues.filter(isFinal),
  };
  return view.confirmLogs(logs, final);
}

/**
 * As many blocks above the cursor as one call covers. The cursor can move no further than to the final block, so that
 * the next pass begins there again: what is above it is read to its end now, however little a call covers.
 */
async function readAboveCursor(
  known: KnownAddresses,
  view: ChainView,
  cursor: BlockReference,
  { latest, final }: ChainHeads,
): Promise<FoundRows> {
  const finalNumber = Math.max(cursor.number, final?.number ?? 0);
  const toBlock = Math.min(latest.number, finalNumber + MAXIMUM_UNFINAL_BLOCKS);
  let found = await readPaymentLogs(known, view, cursor.number + 1, toBlock);
  while (found.scannedTo.number >= finalNumber && found.scannedTo.number < toBlock) {
    const { scannedTo, rows } = await readPaymentLogs(known, view, found.scannedTo.number + 1, toBlock);
    found = {
      scannedTo,
      rows: {
        deposits: [...found.rows.deposits, ...rows.deposits],
        releases: [...found.rows.releases, ...rows.releases],
        rescues: [...found.rows.rescues, ...rows.rescues],
      },
    };
  }
  return found;
}

/**
 * Reads final blocks a second time and adds what the first reading missed: a node that lags behind answers with an
 * empty list, not with an error, and one that lies leaves out what it likes. So another endpoint is asked than the
 * watcher asks, or each of them. Returns how many rows were missing.
 */
export async function rescanFinalBlocks(
  context: WatchDepositsContext,
  depthBlocks: number,
  options: { readonly isEachAsked?: boolean; readonly signal?: AbortSignal } = {},
): Promise<number> {
  const rescan = (view: ChainView) => rescanAtOne(context, view, depthBlocks, options.signal);
  if (options.isEachAsked !== true) return context.chain.withOtherView(rescan);
  const added = await context.chain.withEachView(rescan);
  return added.reduce((sum, one) => sum + one, 0);
}

async function rescanAtOne(
  context: WatchDepositsContext,
  view: ChainView,
  depthBlocks: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const cursor = await context.observations.readCursor();
  if (cursor === null) return 0;
  await requireSameChain(view, cursor);
  await context.known.catchUp();
  let added = 0;
  let fromBlock = Math.max(0, cursor.number - depthBlocks);
  while (fromBlock <= cursor.number && signal?.aborted !== true) {
    const logs = await readPaymentLogs(context.known, view, fromBlock, cursor.number);
    // Asked again after reading: what was read is of the chain that we know.
    await requireSameChain(view, cursor);
    const missing = await context.observations.listMissing(logs.rows);
    if (await areConfirmed(view, missing, cursor)) {
      added += (await context.observations.recordMissed({ from: cursor, ...missing }, context.decide)).added;
    }
    fromBlock = logs.scannedTo.number + 1;
  }
  return added;
}

/** Rows of final blocks count at once, so they are taken only from a chain that others confirm and that has our cursor. */
async function requireSameChain(view: ChainView, cursor: BlockReference): Promise<void> {
  const { final } = await view.readHeads();
  const block = await view.readBlock(cursor.number);
  if (final === null || block?.hash !== cursor.hash) {
    throw new ChainUnavailableError('the endpoint is not on the chain that was scanned');
  }
}

/** The cursor, after making sure that the chain still has that block. */
async function verifiedCursor(
  context: WatchDepositsContext,
  view: ChainView,
  final: BlockReference | null,
): Promise<BlockReference> {
  const cursor = await context.observations.readCursor();
  if (cursor === null) {
    if (final === null) throw new ChainUnavailableError('no final block is agreed on yet');
    await context.observations.startCursor(final);
    return final;
  }
  const block = await view.readBlock(cursor.number);
  if (block === null) throw new ChainUnavailableError('the endpoint is behind what was already scanned');
  if (block.hash === cursor.hash) return cursor;
  // One endpoint on a fork is no reason to forget what was final: without agreement another one is asked.
  if (final === null)
    throw new ChainUnavailableError(
      'the endpoint contradicts what was final, and no other endpoint confirms it',
    );
  if (!(await view.confirmBlock(block)))
    throw new ChainUnavailableError(`no other endpoint has lost block ${cursor.number}, which was final`);
  return rewind(context, view, cursor);
}

/**
 * The chain lost final blocks: back to the newest checkpoint that it still has. Where it has none, an endpoint lied about
 * all of them while nothing contradicted it: back to a block below them that another host has as well.
 */
async function rewind(
  context: WatchDepositsContext,
  view: ChainView,
  cursor: BlockReference,
): Promise<BlockReference> {
  const checkpoints = await context.observations.listCheckpoints(200);
  for (const checkpoint of checkpoints) {
    const block = await view.readBlock(checkpoint.number);
    if (block?.hash === checkpoint.hash) return rewindTo(context, cursor, checkpoint);
  }
  const oldest = checkpoints.at(-1) ?? cursor;
  const below = await view.readBlock(Math.max(0, oldest.number - BELOW_CHECKPOINTS));
  if (below === null || !(await view.confirmBlock(below))) {
    throw new ChainUnavailableError('the chain has none of the final blocks that were scanned before');
  }
  return rewindTo(context, cursor, below);
}

async function rewindTo(
  { observations, decide, onRewind }: WatchDepositsContext,
  from: BlockReference,
  to: BlockReference,
): Promise<BlockReference> {
  await observations.rewindTo(to, decide);
  onRewind(from, to);
  return to;
}

/**
 * The newest block that is scanned, final and confirmed at another host; never goes back. `readHeads` has confirmed
 * `final`. The hash of a block between the cursor and `final` is the word of the scanned endpoint alone: as a cursor,
 * an invented one would stop settlement for good.
 */
async function confirmedFinal(
  view: ChainView,
  cursor: BlockReference,
  final: BlockReference | null,
  scannedTo: BlockReference,
): Promise<BlockReference> {
  if (final === null || final.number <= cursor.number) return cursor;
  if (scannedTo.number >= final.number) return final;
  return (await view.confirmBlock(scannedTo)) ? scannedTo : cursor;
}

/** Rows found in blocks up to `scannedTo`. */
interface FoundRows {
  readonly scannedTo: BlockReference;
  readonly rows: OwnRows;
}

/** Logs of our payments. */
interface OwnRows {
  readonly deposits: readonly (TransferLog & RowOwner)[];
  readonly releases: readonly (ForwardedLog & RowOwner)[];
  readonly rescues: readonly (RescuedLog & RowOwner)[];
}

async function readPaymentLogs(
  known: KnownAddresses,
  view: ChainView,
  fromBlock: number,
  toBlock: number,
): Promise<FoundRows> {
  const {
    transfers,
    forwarded,
    rescued = [],
    scannedTo,
  } = await view.readLogs({
    fromBlock,
    toBlock,
    recipients: known.book.addresses,
    isCandidate: known.book.isCandidate,
  });
  return {
    scannedTo,
    rows: {
      deposits: await withPayment(known, transfers, ({ recipient }) => recipient),
      releases: await withPayment(known, forwarded, ({ deposit }) => deposit),
      rescues: await withPayment(known, rescued, ({ deposit }) => deposit),
    },
  };
}

/** Keeps the logs that belong to a payment of ours, and names it. */
async function withPayment<Log>(
  known: KnownAddresses,
  logs: readonly Log[],
  addressOf: (log: Log) => string,
): Promise<(Log & RowOwner)[]> {
  const matched: (Log & RowOwner)[] = [];
  for (const log of logs) {
    const payment = await known.findPayment(addressOf(log));
    if (payment !== null) matched.push({ ...log, paymentId: payment.id, accountId: payment.accountId });
  }
  return matched;
}
