import type { ChainPosition } from '../payment/payment.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import {
  type ChainReader,
  ChainUnavailableError,
  type ChainView,
  type ForwardedLog,
  type LatestBlock,
  type RescuedLog,
  type TransferLog,
} from './chain/chain.ts';
import { findOwners, listAllAddresses, type OpenAddresses } from './deposit-owners.ts';
import { type RewindContext, rewind } from './reorganizations.ts';
import { type BlockReference, type RowOwner, type ScanRecord, ScanRefusedError } from './settlement-store.ts';

export interface WatchDepositsContext extends RewindContext {
  readonly chain: ChainReader;
  readonly payments: Pick<PaymentStore, 'findDepositOwners' | 'listDepositAddresses'>;
  /** The addresses to look for in blocks that are not final. All payments' are looked for in final blocks. */
  readonly openAddresses: OpenAddresses;
  /** What earlier passes have read above the cursor. Without it, each pass reads all of it. */
  readonly kept?: KeptBlocks;
  /** While nothing of ours is above the cursor, the final block is asked for so often. By default with every pass. */
  readonly finality?: { readonly everyMs: number; readonly monotonicMs: () => number };
  /**
   * Whether a release of ours may be mined soon. If not, releases are looked for in final blocks only. By default they
   * always are.
   */
  readonly expectsReleases?: () => Promise<boolean>;
}

export interface WatchPass {
  readonly cursor: BlockReference;
  readonly latest: BlockReference;
  /** False while blocks are left that a further pass would cover at once. */
  readonly isCaughtUp: boolean;
}

/** So many blocks that are not final are read in a pass at most, so that it comes to its end. */
const MAXIMUM_BLOCKS_A_PASS = 1_000;

/** So many blocks above the cursor are kept at most: finality that stands still for ten hours. */
const MAXIMUM_KEPT_BLOCKS = 20_000;

/** So many readings are compared with the chain one by one. A deeper reorganization is read again as a whole. */
const MAXIMUM_COMPARISONS = 8;

/**
 * One pass over the chain. The blocks above the cursor are kept by their hash and read once; when they are final, they
 * are read once more, because a node may show a block before its logs. The rows found replace what the last pass saw
 * there, and the cursor moves to the newest final block. A reorganization therefore needs no code of its own: what is
 * gone is not found again (but see `reorganizations.ts`). All that a pass changes is one transaction.
 */
export async function watchDeposits(context: WatchDepositsContext): Promise<WatchPass> {
  return context.chain.withView(async (view) => {
    const kept = context.kept ?? createKeptBlocks();
    const passing = { ...context, kept };
    const latest = await view.readLatest();
    const cursor = await context.observations.readCursor();
    kept.begin(view.source, cursor);
    if (cursor === null || isFinalityDue(passing)) return watchToFinal(passing, view, latest);
    const hasMore = await keepUpTo(passing, view, latest, cursor.number);
    if (isFinalityDue(passing)) return watchToFinal(passing, view, latest);
    return { cursor, latest, isCaughtUp: !hasMore };
  });
}

type KeepingContext = WatchDepositsContext & { readonly kept: KeptBlocks };

function isFinalityDue({ kept, finality }: KeepingContext): boolean {
  if (finality === undefined || kept.isDirty || kept.hasRows) return true;
  return finality.monotonicMs() - kept.finalAskedAtMs >= finality.everyMs;
}

/** The part of a pass that moves the cursor. */
async function watchToFinal(
  context: KeepingContext,
  view: ChainView,
  latest: LatestBlock,
): Promise<WatchPass> {
  const { kept, finality } = context;
  const final = await view.readFinal();
  const cursor = await verifiedCursor(context, view, final);
  kept.begin(view.source, cursor);
  if (latest.number <= cursor.number) return { cursor, latest, isCaughtUp: true };

  // Also while blocks are left to read: a transaction that moved down would be recorded at both of its places.
  await dropReorganized(kept, view, latest);
  const finalNumber = Math.max(cursor.number, final?.number ?? 0);
  const found = await readFinalBlocks(context, view, cursor, finalNumber);
  const reached = await confirmedFinal(view, cursor, final, found.scannedTo);
  let hasMore = found.scannedTo.number < finalNumber;
  if (!hasMore) hasMore = await keepUpTo(context, view, latest, finalNumber);
  const scannedTo = Math.max(found.scannedTo.number, kept.top?.number ?? 0);
  const scanned = joinRows([found.rows, kept.rowsAbove(found.scannedTo.number)]);
  const leftOut = await readLeftOut(context, view, { from: cursor, final: reached, scannedTo, ...scanned });
  const rows = joinRows([scanned, leftOut]);
  // One endpoint's logs are not enough: unconfirmed, they stay provisional, and the next pass begins here again.
  const to = (await areConfirmed(view, rows, reached)) ? reached : cursor;
  if (kept.isDirty || to.number > cursor.number) {
    const { hasRowsAbove } = await recordScan(context, { from: cursor, final: to, scannedTo, ...rows });
    // The chain became shorter: rows of blocks that it lost are replaced once it is as high again.
    kept.isDirty = hasRowsAbove;
  }
  if (!hasMore) kept.finalAskedAtMs = finality?.monotonicMs() ?? 0;
  // Where neither the cursor nor the newest block that was read moves, a further pass would read the same again.
  const isStuck = to.number === cursor.number && found.scannedTo.number < finalNumber;
  return { cursor: to, latest, isCaughtUp: !hasMore || isStuck };
}

/**
 * What a scan lacks of the recorded rows that become final, and the endpoint has after all. A node behind a load balancer
 * may lack the newest blocks and answer with an empty list; by its hash, a block has its logs or is not there.
 */
async function readLeftOut(
  { observations, payments }: WatchDepositsContext,
  view: ChainView,
  scan: ScanRecord,
): Promise<OwnRows> {
  if (scan.final.number === scan.from.number) return NO_ROWS;
  const { deposits, releases } = await observations.listVanished(scan);
  const hashes = new Set([...deposits, ...releases].map(({ transactionHash }) => transactionHash));
  const blocks = new Set([...deposits, ...releases].map(({ blockNumber }) => blockNumber));
  const recipients = blocks.size === 0 ? null : await listAllAddresses({ payments });
  const found: OwnRows[] = [];
  // A deeper reorganization has more of them, and is believed.
  for (const fromBlock of [...blocks].slice(0, MAXIMUM_COMPARISONS)) {
    const block = await view.readBlock(fromBlock);
    if (block === null) throw new ChainUnavailableError(`${view.source} does not have block ${fromBlock}`);
    const query = { fromBlock, toBlock: fromBlock, block, recipients };
    found.push((await readPaymentLogs(payments, view, query)).rows);
  }
  return filterRows(joinRows(found), ({ transactionHash }) => hashes.has(transactionHash));
}

/** As many final blocks above the cursor as one call covers, for the addresses of all payments. */
async function readFinalBlocks(
  context: KeepingContext,
  view: ChainView,
  cursor: BlockReference,
  finalNumber: number,
): Promise<FoundRows> {
  const { kept, payments } = context;
  if (finalNumber === cursor.number) return { scannedTo: cursor, rows: NO_ROWS };
  const [fromBlock, toBlock] = [cursor.number + 1, finalNumber];
  const recipients = await listAllAddresses({ payments });
  const found = await readPaymentLogs(payments, view, { fromBlock, toBlock, recipients });
  if (kept.top === null) kept.add(fromBlock, found.scannedTo, found.rows);
  return found;
}

/**
 * Reads the blocks above those that are kept, and above `above`. Whether blocks are left that a further pass would read.
 */
async function keepUpTo(
  context: KeepingContext,
  view: ChainView,
  latest: LatestBlock,
  above: number,
): Promise<boolean> {
  const { kept, payments, openAddresses, expectsReleases } = context;
  await dropReorganized(kept, view, latest);
  let fromBlock = Math.max(kept.top?.number ?? 0, above) + 1;
  const toBlock = Math.min(latest.number, fromBlock + MAXIMUM_BLOCKS_A_PASS - 1, above + MAXIMUM_KEPT_BLOCKS);
  if (fromBlock > toBlock) return false;
  const recipients = await openAddresses();
  const withReleases = (await expectsReleases?.()) ?? true;
  while (fromBlock <= toBlock) {
    // By its hash, the newest block has its logs or is not there: no node shows it without them.
    const block = fromBlock === latest.number ? { block: latest } : {};
    const query = { fromBlock, toBlock, recipients, withReleases, ...block };
    const { scannedTo, rows } = await readPaymentLogs(payments, view, query);
    kept.add(fromBlock, scannedTo, rows);
    fromBlock = scannedTo.number + 1;
  }
  return toBlock < latest.number && toBlock < above + MAXIMUM_KEPT_BLOCKS;
}

/** Forgets the blocks that the endpoint's chain does not have. */
async function dropReorganized(kept: KeptBlocks, view: ChainView, latest: LatestBlock): Promise<void> {
  for (let comparisons = 0; kept.top !== null; comparisons++) {
    const { number, hash } = kept.top;
    if (comparisons === MAXIMUM_COMPARISONS) return kept.clear();
    if (number === latest.number && hash === latest.hash) return;
    if (number === latest.number - 1 && hash === latest.parentHash) return;
    if (number < latest.number - 1 && (await view.readBlock(number))?.hash === hash) return;
    kept.dropTop();
  }
}

/** Rows that contradict final ones are the endpoint's mistake, also where nothing has confirmed them yet. */
async function recordScan({ observations, decide }: WatchDepositsContext, scan: ScanRecord) {
  try {
    return await observations.recordScan(scan, decide);
  } catch (error) {
    if (!(error instanceof ScanRefusedError && error.conflict === 'rows')) throw error;
    throw new ChainUnavailableError(`the endpoint contradicts what is recorded: ${error.message}`, {
      cause: error,
    });
  }
}

/** Whether another host, where there is one, shows what was found in blocks that are to become final. */
export function areConfirmed(view: ChainView, rows: OwnRows, final: BlockReference): Promise<boolean> {
  const isFinal = ({ blockNumber }: ChainPosition) => blockNumber <= final.number;
  const { deposits, releases, rescues } = filterRows(rows, isFinal);
  return view.confirmLogs({ transfers: deposits, forwarded: releases, rescued: rescues }, final);
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
  if (block === null)
    throw new ChainUnavailableError(`the endpoint does not have block ${cursor.number}, which was scanned`);
  if (block.hash === cursor.hash) return cursor;
  return rewind(context, view, { cursor, block, final });
}

/**
 * The newest block that is scanned, final and confirmed at another host; never goes back. `readFinal` has confirmed
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

/** The logs that belong to payments of ours, which are looked up once the endpoint has answered. */
export async function readPaymentLogs(
  payments: WatchDepositsContext['payments'],
  view: ChainView,
  query: Omit<Parameters<ChainView['readLogs']>[0], 'ownOf'>,
): Promise<FoundRows> {
  const ownOf = async (recipients: ReadonlySet<string>) =>
    new Set((await findOwners(payments, recipients)).keys());
  const { transfers, forwarded, rescued = [], scannedTo } = await view.readLogs({ ...query, ownOf });
  const ofFactories = [...forwarded, ...rescued].map(({ deposit }) => deposit);
  const addresses = [...transfers.map(({ recipient }) => recipient), ...ofFactories];
  const owners = await findOwners(payments, new Set(addresses.map((address) => address.toLowerCase())));
  /** Keeps the logs that belong to a payment of ours, and names it. */
  function withOwner<Log>(logs: readonly Log[], addressOf: (log: Log) => string): (Log & RowOwner)[] {
    return logs.flatMap((log) => {
      const owner = owners.get(addressOf(log).toLowerCase());
      return owner === undefined ? [] : { ...log, paymentId: owner.id };
    });
  }
  return {
    scannedTo,
    rows: {
      deposits: withOwner(transfers, ({ recipient }) => recipient),
      releases: withOwner(forwarded, ({ deposit }) => deposit),
      rescues: withOwner(rescued, ({ deposit }) => deposit),
    },
  };
}

interface OwnRows {
  readonly deposits: readonly (TransferLog & RowOwner)[];
  readonly releases: readonly (ForwardedLog & RowOwner)[];
  readonly rescues: readonly (RescuedLog & RowOwner)[];
}

const NO_ROWS: OwnRows = { deposits: [], releases: [], rescues: [] };

export type KeptBlocks = ReturnType<typeof createKeptBlocks>;

/** Blocks that are not final and were read already, so that the next pass reads only what came after them. */
export function createKeptBlocks() {
  let source: string | null = null;
  /** Each of blocks [fromBlock, to]. As long as the chain has the block `to`, it has those before it as well. */
  let readings: { readonly fromBlock: number; readonly to: BlockReference; readonly rows: OwnRows }[] = [];

  const kept = {
    /** Whether the store may have other rows than these. */
    isDirty: true,
    /** When the cursor was last moved as far as finality allows, on a monotonic clock. */
    finalAskedAtMs: Number.NEGATIVE_INFINITY,
    /** The newest of them; null while there are none. */
    get top(): BlockReference | null {
      return readings.at(-1)?.to ?? null;
    },
    get hasRows(): boolean {
      return readings.some(({ rows }) => countOf(rows) > 0);
    },
    /**
     * Begins a pass. Forgets what another endpoint showed, because a second endpoint has to confirm what the first one
     * shows, and the blocks that the cursor has passed.
     */
    begin(newSource: string, cursor: BlockReference | null): void {
      if (source !== newSource || cursor === null) kept.clear();
      source = newSource;
      if (cursor === null) return;
      readings = readings.filter(({ to }) => to.number > cursor.number);
      // The cursor went back: what is between it and these blocks would never be read.
      if ((readings[0]?.fromBlock ?? 0) > cursor.number + 1) kept.clear();
    },
    /** Adds the blocks that follow on the newest one, or any first ones. */
    add(fromBlock: number, to: BlockReference, rows: OwnRows): void {
      readings.push({ fromBlock, to, rows });
      if (countOf(rows) > 0) kept.isDirty = true;
    },
    /** Forgets the newest reading: the chain no longer has its last block. */
    dropTop(): void {
      const dropped = readings.pop();
      if (dropped !== undefined && countOf(dropped.rows) > 0) kept.isDirty = true;
    },
    clear(): void {
      readings = [];
      kept.isDirty = true;
    },
    rowsAbove(blockNumber: number): OwnRows {
      return joinRows(readings.map(({ rows }) => filterRows(rows, (row) => row.blockNumber > blockNumber)));
    },
  };
  return kept;
}

function filterRows(rows: OwnRows, isKept: (row: ChainPosition) => boolean): OwnRows {
  const { deposits, releases, rescues } = rows;
  return {
    deposits: deposits.filter(isKept),
    releases: releases.filter(isKept),
    rescues: rescues.filter(isKept),
  };
}

/** All these rows, in their order. */
function joinRows(all: readonly OwnRows[]): OwnRows {
  return {
    deposits: all.flatMap(({ deposits }) => deposits),
    releases: all.flatMap(({ releases }) => releases),
    rescues: all.flatMap(({ rescues }) => rescues),
  };
}

function countOf({ deposits, releases, rescues }: OwnRows): number {
  return deposits.length + releases.length + rescues.length;
}
