import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address } from '../payment/address.ts';
import type { ChainPosition } from '../payment/payment.ts';
import { type DepositOwner, MAXIMUM_OWNERS_ASKED, type PaymentStore } from '../payment/payment-store.ts';
import {
  type ChainReader,
  ChainUnavailableError,
  type ChainView,
  type ForwardedLog,
  type LatestBlock,
  type RescuedLog,
  type TransferLog,
} from './chain/chain.ts';
import { filterRows, type RowOwner } from './journal.ts';
import { type RewindContext, rewind } from './rewind-final-blocks.ts';
import {
  type BlockReference,
  type ObservationStore,
  type ScanRecord,
  ScanRefusedError,
} from './settlement-store.ts';

export interface WatchDepositsContext extends RewindContext {
  readonly chain: ChainReader;
  readonly payments: Pick<PaymentStore, 'findDepositOwners' | 'listDepositAddresses'>;
  /** Addresses to look for in non-final blocks. Final blocks are searched for the addresses of all payments. */
  readonly openAddresses: OpenAddresses;
  /** Blocks above the cursor that earlier passes read. */
  readonly kept: KeptBlocks;
  /** Interval at which the final block is read while no rows are above the cursor; 0 reads it on every pass. */
  readonly finality: { readonly everyMs: number; readonly monotonicMs: () => number };
  /** Returns whether a release may be mined soon. If not, releases are looked for only in final blocks. */
  readonly expectsReleases: () => Promise<boolean>;
  /** Called after each part of a rescan with the number of blocks left. */
  readonly onRescan?: (blocksLeft: number) => void;
}

export interface WatchPass {
  readonly cursor: BlockReference;
  readonly latest: BlockReference;
  /** False if another pass would have blocks to read immediately. */
  readonly isCaughtUp: boolean;
}

/** Maximum non-final blocks per pass, so that a pass always finishes. */
const MAXIMUM_BLOCKS_A_PASS = 1_000;

/** Maximum blocks kept above the cursor, enough for ten hours without finality. */
const MAXIMUM_KEPT_BLOCKS = 20_000;

/** Maximum kept readings compared with the chain one by one. After a deeper reorganization, all are read again. */
const MAXIMUM_COMPARISONS = 8;

/**
 * Runs one pass over the chain. Blocks above the cursor are read once when new and again when final, because a node
 * may show a block before its logs. Each pass replaces the rows of the last one in a single transaction, so only
 * reorganizations of final blocks need code of their own (`rewind-final-blocks.ts`).
 *
 * An announced block that follows the kept ones is read by its hash, without a request for the newest block.
 */
export async function watchDeposits(
  context: WatchDepositsContext,
  announced: LatestBlock | null = null,
): Promise<WatchPass> {
  return context.chain.withView(async (view) => {
    const { kept } = context;
    const cursor = await context.observations.readCursor();
    kept.begin(view.source, cursor);
    if (cursor === null || isFinalityDue(context))
      return watchToFinal(context, view, await view.readLatest());
    const isNext = announced !== null && isFollowedBy(kept.top, announced);
    let latest = isNext ? announced : await view.readLatest();
    const hasMore = await keepUpTo(context, view, latest, cursor.number).catch(async (error: unknown) => {
      // The announcement may be wrong, so this error does not count against the endpoint.
      if (!isNext || !(error instanceof ChainUnavailableError)) throw error;
      latest = await view.readLatest();
      return keepUpTo(context, view, latest, cursor.number);
    });
    if (isFinalityDue(context)) return watchToFinal(context, view, latest);
    return { cursor, latest, isCaughtUp: !hasMore };
  });
}

function isFinalityDue({ kept, finality }: WatchDepositsContext): boolean {
  return !kept.isClean || finality.monotonicMs() - kept.finalAskedAtMs >= finality.everyMs;
}

async function watchToFinal(
  context: WatchDepositsContext,
  view: ChainView,
  latest: LatestBlock,
): Promise<WatchPass> {
  const { kept, finality } = context;
  const final = await view.readFinal();
  const cursor = await verifiedCursor(context, view, final);
  kept.begin(view.source, cursor);
  if (latest.number <= cursor.number) return { cursor, latest, isCaughtUp: true };

  // Reorganized blocks are dropped even while others are left to read. Otherwise, a transaction that moved to a lower
  // block would be recorded at both positions.
  await dropReorganized(kept, view, latest);
  const finalNumber = Math.max(cursor.number, final?.number ?? 0);
  const found = await readFinalBlocks(context, view, cursor, finalNumber);
  const reached = await confirmedFinal(view, cursor, final, found.scannedTo);
  const isBehind = found.scannedTo.number < finalNumber;
  const hasMore = isBehind || (await keepUpTo(context, view, latest, finalNumber));
  const scannedTo = Math.max(found.scannedTo.number, kept.top?.number ?? 0);
  const scanned = joinRows([found.rows, kept.rowsAbove(found.scannedTo.number)]);
  const leftOut = await readLeftOut(context, view, { from: cursor, final: reached, scannedTo, ...scanned });
  const rows = joinRows([scanned, leftOut]);
  // One endpoint's logs are not enough. Unconfirmed rows stay provisional, and the next pass starts at the same cursor.
  const to = (await areConfirmed(view, rows, reached)) ? reached : cursor;
  if (kept.isDirty || to.number > cursor.number) {
    const { hasRowsAbove } = await recordScan(context, { from: cursor, final: to, scannedTo, ...rows });
    // If the chain became shorter, rows of lost blocks remain until it reaches their height again.
    kept.isDirty = hasRowsAbove;
  }
  if (!hasMore) kept.finalAskedAtMs = finality.monotonicMs();
  // If final blocks remain but the cursor did not move, another pass would only read the same blocks again.
  return { cursor: to, latest, isCaughtUp: !hasMore || (isBehind && to.number === cursor.number) };
}

/** Rereads recorded rows that a scan lacks, by block hash. A node that knows the hash also has the block's logs. */
async function readLeftOut(
  { observations, payments }: WatchDepositsContext,
  view: ChainView,
  scan: ScanRecord,
): Promise<OwnRows> {
  if (scan.final.number === scan.from.number) return NO_ROWS;
  const { deposits, releases } = await observations.listVanished(scan);
  const hashes = new Set([...deposits, ...releases].map(({ transactionHash }) => transactionHash));
  const blocks = new Set([...deposits, ...releases].map(({ blockNumber }) => blockNumber));
  const recipients = blocks.size === 0 ? null : await listAllAddresses(payments);
  const found: OwnRows[] = [];
  // More blocks mean a deep reorganization, so the rows of the others are accepted as lost.
  for (const fromBlock of [...blocks].slice(0, MAXIMUM_COMPARISONS)) {
    const block = await view.readBlock(fromBlock);
    if (block === null) throw new ChainUnavailableError(`${view.source} does not have block ${fromBlock}`);
    const query = { fromBlock, toBlock: fromBlock, block, recipients };
    found.push((await readPaymentLogs(payments, view, query)).rows);
  }
  return filterRows(joinRows(found), ({ transactionHash }) => hashes.has(transactionHash));
}

/** Minimum final blocks per pass, even if an endpoint allows fewer per call, because each pass needs a confirmation. */
const BLOCKS_A_CONFIRMATION = 64;

/** Reads final blocks above the cursor for all payments: what one call covers, but at least `BLOCKS_A_CONFIRMATION`. */
async function readFinalBlocks(
  context: WatchDepositsContext,
  view: ChainView,
  cursor: BlockReference,
  finalNumber: number,
): Promise<FoundRows> {
  const { kept, payments } = context;
  if (finalNumber === cursor.number) return { scannedTo: cursor, rows: NO_ROWS };
  const recipients = await listAllAddresses(payments);
  const [toBlock, enough] = [finalNumber, Math.min(finalNumber, cursor.number + BLOCKS_A_CONFIRMATION)];
  let found: FoundRows = { scannedTo: cursor, rows: NO_ROWS };
  while (found.scannedTo.number < enough) {
    const fromBlock = found.scannedTo.number + 1;
    const { scannedTo, rows } = await readPaymentLogs(payments, view, { fromBlock, toBlock, recipients });
    found = { scannedTo, rows: joinRows([found.rows, rows]) };
  }
  if (kept.top === null) kept.add(cursor.number + 1, found.scannedTo, found.rows);
  return found;
}

/** Number of kept blocks read again with later ones, because a reorganization may have replaced them. */
const BLOCKS_READ_AGAIN = 4;

/** Reads the next blocks after `above` and the kept ones. Returns whether another pass has blocks left to read. */
async function keepUpTo(
  context: WatchDepositsContext,
  view: ChainView,
  latest: LatestBlock,
  above: number,
): Promise<boolean> {
  const { kept, payments, openAddresses, expectsReleases } = context;
  await dropReorganized(kept, view, latest);
  let fromBlock = Math.max(kept.top?.number ?? 0, above) + 1;
  if (kept.isClean && fromBlock < latest.number)
    fromBlock = Math.max(above + 1, fromBlock - BLOCKS_READ_AGAIN);
  const toBlock = Math.min(latest.number, fromBlock + MAXIMUM_BLOCKS_A_PASS - 1, above + MAXIMUM_KEPT_BLOCKS);
  if (fromBlock > toBlock) return false;
  const recipients = await openAddresses();
  const withReleases = await expectsReleases();
  if (recipients?.length === 0 && !withReleases) return false;
  while (fromBlock <= toBlock) {
    // The newest block is requested by hash, because a node that knows the hash also has the block's logs.
    const block = fromBlock === latest.number ? { block: latest } : {};
    const query = { fromBlock, toBlock, recipients, withReleases, ...block };
    const { scannedTo, rows } = await readPaymentLogs(payments, view, query);
    kept.add(fromBlock, scannedTo, rows);
    fromBlock = scannedTo.number + 1;
  }
  return toBlock < latest.number && toBlock < above + MAXIMUM_KEPT_BLOCKS;
}

/** Forgets kept blocks that the endpoint's chain lacks. Compares only the newest if no rows are above the cursor. */
async function dropReorganized(kept: KeptBlocks, view: ChainView, latest: LatestBlock): Promise<void> {
  for (let comparisons = 0; kept.top !== null; comparisons++) {
    const { number, hash } = kept.top;
    if (comparisons === MAXIMUM_COMPARISONS) return kept.clear();
    if (isFollowedBy(kept.top, latest)) return;
    if (number < latest.number - 1 && (kept.isClean || (await view.readBlock(number))?.hash === hash)) return;
    kept.dropTop();
  }
}

/** Returns whether a block is the newest kept one or comes directly after it. */
function isFollowedBy(top: BlockReference | null, { number, hash, parentHash }: LatestBlock): boolean {
  return top?.number === number ? top.hash === hash : top?.number === number - 1 && top.hash === parentHash;
}

/** Records a scan. Throws `ChainUnavailableError` if rows contradict final ones, so that the next endpoint is tried. */
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

/** Returns whether another host, if there is one, confirms the rows of blocks that become final. */
export function areConfirmed(view: ChainView, rows: OwnRows, final: BlockReference): Promise<boolean> {
  const isFinal = ({ blockNumber }: ChainPosition) => blockNumber <= final.number;
  const { deposits, releases, rescues } = filterRows(rows, isFinal);
  return view.confirmLogs({ transfers: deposits, forwarded: releases, rescued: rescues }, final);
}

/** Returns the cursor if the chain still has its block, and rewinds it otherwise. */
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
 * Returns the newest block that is scanned, final and confirmed at another host, never one below the cursor. A block
 * below `final` needs its own confirmation, because a cursor with an invented hash would stop settlement permanently.
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

interface FoundRows {
  readonly scannedTo: BlockReference;
  readonly rows: OwnRows;
}

/** Reads the logs of payments, whose addresses are looked up after the endpoint has answered. */
export async function readPaymentLogs(
  payments: Pick<PaymentStore, 'findDepositOwners'>,
  view: ChainView,
  query: Omit<Parameters<ChainView['readLogs']>[0], 'ownOf'>,
): Promise<FoundRows> {
  const ownOf = async (recipients: ReadonlySet<string>) =>
    new Set((await findOwners(payments, recipients)).keys());
  const { transfers, forwarded, rescued, scannedTo } = await view.readLogs({ ...query, ownOf });
  const ofFactories = [...forwarded, ...rescued].map(({ deposit }) => deposit);
  const addresses = [...transfers.map(({ recipient }) => recipient), ...ofFactories];
  const owners = await findOwners(payments, new Set(addresses.map((address) => address.toLowerCase())));
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

export const NO_ROWS: OwnRows = { deposits: [], releases: [], rescues: [] };

export type KeptBlocks = ReturnType<typeof createKeptBlocks>;

/** Caches non-final blocks, so that the next pass reads only later ones. */
export function createKeptBlocks() {
  let source: string | null = null;
  /** Readings, each of blocks [fromBlock, to]. A chain that has the block `to` also has the earlier ones. */
  let readings: { readonly fromBlock: number; readonly to: BlockReference; readonly rows: OwnRows }[] = [];

  const kept = {
    /** True while the store's rows may differ from the cached ones. */
    isDirty: true,
    /** Monotonic time of the last pass that moved the cursor as far as finality allowed. */
    finalAskedAtMs: Number.NEGATIVE_INFINITY,
    get top(): BlockReference | null {
      return readings.at(-1)?.to ?? null;
    },
    /** Whether neither this cache nor the store has rows above the cursor. */
    get isClean(): boolean {
      return !kept.isDirty && readings.every(({ rows }) => countOf(rows) === 0);
    },
    /** Starts a pass. Drops final blocks, and all blocks of another endpoint, so that none confirms its own rows. */
    begin(newSource: string, cursor: BlockReference | null): void {
      if (source !== newSource || cursor === null) kept.clear();
      source = newSource;
      if (cursor === null) return;
      readings = readings.filter(({ to }) => to.number > cursor.number);
      // If the cursor went back, the blocks between the cursor and the kept ones would never be read.
      if ((readings[0]?.fromBlock ?? 0) > cursor.number + 1) kept.clear();
    },
    /** Adds blocks after the newest kept one, or the first blocks. */
    add(fromBlock: number, to: BlockReference, rows: OwnRows): void {
      readings.push({ fromBlock, to, rows });
      if (countOf(rows) > 0) kept.isDirty = true;
    },
    /** Forgets the newest reading, because the chain no longer has its last block. */
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

export function joinRows(all: readonly OwnRows[]): OwnRows {
  return {
    deposits: all.flatMap(({ deposits }) => deposits),
    releases: all.flatMap(({ releases }) => releases),
    rescues: all.flatMap(({ rescues }) => rescues),
  };
}

function countOf({ deposits, releases, rescues }: OwnRows): number {
  return deposits.length + releases.length + rescues.length;
}

/**
 * Finds the payments that own these addresses, in chunks, so that many unknown addresses do not delay requests.
 *
 * Must be called after the logs are read. A customer learns an address only after its payment is committed, so the
 * store then has every payment that received money.
 */
async function findOwners(
  payments: Pick<PaymentStore, 'findDepositOwners'>,
  addresses: Iterable<string>,
): Promise<ReadonlyMap<string, DepositOwner>> {
  const asked = [...addresses];
  const owners = new Map<string, DepositOwner>();
  for (let from = 0; from < asked.length; from += MAXIMUM_OWNERS_ASKED) {
    if (from > 0) await nextTurn();
    const portion = asked.slice(from, from + MAXIMUM_OWNERS_ASKED);
    for (const owner of await payments.findDepositOwners(portion)) {
      owners.set(owner.depositAddress.toLowerCase(), owner);
    }
  }
  return owners;
}

/** Approximate maximum number of addresses that nodes accept in one filter. */
const MAXIMUM_LISTED = 1_000;

type AddressLists = Readonly<{
  payments: Pick<PaymentStore, 'listDepositAddresses'>;
  observations: Pick<ObservationStore, 'readExpiryWatermark'>;
}>;

/** Returns the addresses of all payments; null if they exceed a node's filter. Called after the head is read. */
export function listAllAddresses(payments: AddressLists['payments']): Promise<readonly Address[] | null> {
  return payments.listDepositAddresses('', MAXIMUM_LISTED);
}

/** Maximum addresses per filter. More, at 69 bytes each, outweigh a busy block's 75 logs of 109 compressed bytes. */
const MAXIMUM_FILTERED = 128;

/** Maximum payments read since the oldest open one. If there are more, too many are assumed to be open. */
const MAXIMUM_LOOKED_AT = 2_000;

/** Time that a payment stays in the filter after it is no longer open. New ones join immediately. */
const LEAVING_MS = 30_000;

export type OpenAddresses = ReturnType<typeof createOpenAddresses>;

/**
 * Creates a function that returns the deposit addresses of payments that await money, or did within `LEAVING_MS`; null
 * if filtering is not worthwhile. Other deposits are found once their block is final.
 */
export function createOpenAddresses({
  payments,
  observations,
  monotonicMs,
}: AddressLists & { readonly monotonicMs: () => number }): () => Promise<readonly Address[] | null> {
  const openAtMs = new Map<Address, number>();
  return async () => {
    const watermark = await observations.readExpiryWatermark();
    const open = await payments.listDepositAddresses(watermark, MAXIMUM_FILTERED, MAXIMUM_LOOKED_AT);
    const nowMs = monotonicMs();
    for (const address of open ?? []) openAtMs.set(address, nowMs);
    for (const [address, lastMs] of openAtMs) if (nowMs - lastMs > LEAVING_MS) openAtMs.delete(address);
    return open === null || openAtMs.size > MAXIMUM_FILTERED ? null : [...openAtMs.keys()];
  };
}
