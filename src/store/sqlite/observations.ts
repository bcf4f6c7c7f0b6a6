import type { DatabaseSync } from 'node:sqlite';
import { entriesOf, type MovedRows, takenBack } from '../../domain/journal.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { Decide } from '../../domain/ports/payment-store.ts';
import type {
  BlockReference,
  FoundOnChain,
  ObservationStore,
  ScanRecord,
} from '../../domain/ports/settlement-store.ts';
import {
  checkScan,
  contentsError,
  EXPIRY_WATERMARK,
  elsewhereError,
  finalRows,
  isCursor,
  NO_FINAL_BLOCK,
  requireCheckpoint,
  requireCursor,
  requireFinal,
  stopBeforeRevisited,
} from '../observation-rules.ts';
import { checkListLimit, MAXIMUM_CHECKPOINTS } from '../store.ts';
import type { GroupCommit, GroupRead } from './group-commit.ts';
import { createJournal, type Journal } from './journal.ts';
import type { PaymentDecider } from './payment-decider.ts';

/** What the operations work on, within a transaction. */
interface ObservationTables {
  readonly checkpoints: Checkpoints;
  readonly rows: ObservationRows;
  readonly entries: Journal;
  readonly decider: PaymentDecider;
}

export function createObservationStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  decider: PaymentDecider,
  nowMs: () => number,
): ObservationStore {
  const checkpoints = createCheckpoints(database);
  const entries = createJournal(database, nowMs);
  const tables: ObservationTables = { checkpoints, rows: createObservationRows(database), entries, decider };
  const selectWatermark = database.prepare('SELECT payment_id FROM watermarks WHERE name = ?');
  const moveWatermark = database.prepare(
    `INSERT INTO watermarks (name, payment_id) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET payment_id = excluded.payment_id WHERE payment_id = ?`,
  );

  return {
    readCursor: () => reads.run(() => checkpoints.newest()),
    startCursor: (block) =>
      writes.runStatement(() => {
        if (checkpoints.newest() === null) checkpoints.add(block);
      }),
    recordScan: (scan, decide) => writes.runTransaction(() => recordScan(tables, scan, decide)),
    listMissing: (found) =>
      reads.run(() => ({ ...tables.rows.missing(found), ...missingRescues(tables.entries, found) })),
    recordMissed: (missed, decide) => writes.runTransaction(() => recordMissed(tables, missed, decide)),
    listCheckpoints: (limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return checkpoints.list(limit);
      }),
    rewindTo: (block, decide) => writes.runTransaction(() => rewindTo(tables, block, decide)),
    listEntries: (after, limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return entries.list(after, limit);
      }),
    listEntriesOf: (id) => reads.run(() => entries.listOf(id)),
    readExpiryWatermark: () =>
      reads.run(() => (selectWatermark.get(EXPIRY_WATERMARK)?.payment_id as string | undefined) ?? ''),
    advanceExpiryWatermark: (ids, watermark, decide) =>
      writes.runTransaction(() => {
        const stop = stopBeforeRevisited(watermark.to, decide);
        decideAll(decider, new Set(ids), stop.decide);
        moveWatermark.run(EXPIRY_WATERMARK, stop.reached(), watermark.from);
      }),
  };
}

function recordScan(
  { checkpoints, rows, entries, decider }: ObservationTables,
  scan: ScanRecord,
  decide: Decide,
): void {
  checkScan(scan);
  requireCursor(checkpoints.newest(), scan.from);
  const affected = rows.paymentsAbove(scan.from.number);
  rows.removeRange(scan.from.number, scan.scannedTo);
  rows.removeMoved(scan, scan.from.number);
  const found = finalRows({ ...scan, ...rows.add(scan) }, scan.final.number);
  entries.append(entries.fresh(entriesOf(found)));
  for (const row of [...scan.deposits, ...scan.releases]) affected.add(row.paymentId);
  checkpoints.add(scan.final);
  decideAll(decider, affected, decide);
}

function recordMissed(
  { checkpoints, rows, entries, decider }: ObservationTables,
  missed: FoundOnChain & Pick<ScanRecord, 'from'>,
  decide: Decide,
): { added: number } {
  requireCheckpoint(checkpoints.hashAt(missed.from.number), missed.from);
  const finalNumber = checkpoints.newest()?.number ?? NO_FINAL_BLOCK;
  requireFinal(missed, finalNumber);
  const moved = rows.removeMoved(missed, finalNumber);
  const found = rows.add(missed);
  const entered = entries.fresh(entriesOf({ ...missed, ...found }));
  entries.append(entered);
  const added = [...found.deposits, ...found.releases].map(({ paymentId }) => paymentId);
  decideAll(decider, new Set([...moved, ...added]), decide);
  return { added: added.length + entered.filter(({ kind }) => kind === 'rescued').length };
}

/** Rescues stand in the book alone. */
function missingRescues(entries: Journal, { rescues = [] }: FoundOnChain): Pick<FoundOnChain, 'rescues'> {
  const isFresh = (rescue: (typeof rescues)[number]) =>
    entries.fresh(entriesOf({ deposits: [], releases: [], rescues: [rescue] })).length > 0;
  return { rescues: rescues.filter(isFresh) };
}

function rewindTo(
  { checkpoints, rows, entries, decider }: ObservationTables,
  block: BlockReference,
  decide: Decide,
): void {
  const lost = rows.readRange(block.number, checkpoints.newest()?.number ?? NO_FINAL_BLOCK);
  entries.append(takenBack([...entriesOf(lost), ...entries.rescuedAbove(block.number)]));
  const affected = rows.paymentsAbove(block.number);
  rows.removeRange(block.number, Number.MAX_SAFE_INTEGER);
  checkpoints.rewindTo(block);
  decideAll(decider, affected, decide);
}

function decideAll(decider: PaymentDecider, ids: Iterable<PaymentId>, decide: Decide): void {
  for (const id of [...ids].sort()) {
    if (decider.decide(id, decide) === null) throw new Error(`there is no payment ${id} to decide`);
  }
}

/** The final blocks that were scanned up to; the newest is the cursor. Synchronous, inside a read or transaction. */
interface Checkpoints {
  newest(): BlockReference | null;
  /** Null where there is no checkpoint. */
  hashAt(blockNumber: number): string | null;
  /** Newest first. */
  list(limit: number): BlockReference[];
  /** Moves the cursor on, and forgets the oldest checkpoint when there are too many. */
  add(block: BlockReference): void;
  /** Forgets every checkpoint above the block and makes it the cursor. */
  rewindTo(block: BlockReference): void;
}

function createCheckpoints(database: DatabaseSync): Checkpoints {
  const select = database.prepare(
    'SELECT number, hash, timestamp_ms AS "timestampMs" FROM checkpoints ORDER BY number DESC LIMIT ?',
  );
  const insert = database.prepare('INSERT INTO checkpoints (number, hash, timestamp_ms) VALUES (?, ?, ?)');
  const prune = database.prepare(
    `DELETE FROM checkpoints WHERE number <=
       (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${MAXIMUM_CHECKPOINTS})`,
  );
  const selectHash = database.prepare('SELECT hash FROM checkpoints WHERE number = ?');
  const removeFrom = database.prepare('DELETE FROM checkpoints WHERE number >= ?');

  function list(limit: number): BlockReference[] {
    return (select.all(limit) as unknown as BlockReference[]).map((row) => ({ ...row }));
  }

  function newest(): BlockReference | null {
    return list(1)[0] ?? null;
  }

  function put(block: BlockReference): void {
    insert.run(block.number, block.hash, block.timestampMs);
  }

  return {
    newest,
    hashAt: (blockNumber) => (selectHash.get(blockNumber)?.hash as string | undefined) ?? null,
    list,
    add(block) {
      if (isCursor(newest(), block)) return;
      put(block);
      prune.run();
    },
    rewindTo(block) {
      removeFrom.run(block.number);
      put(block);
    },
  };
}

type FoundRows = Pick<ScanRecord, 'deposits' | 'releases'>;

/** What was seen on chain, in two tables alike. Synchronous, inside a transaction. */
interface ObservationRows {
  /** The payments that have a row above a block. */
  paymentsAbove(blockNumber: number): Set<PaymentId>;
  /** The rows in blocks (above, upTo]. */
  readRange(above: number, upTo: number): MovedRows;
  /** Removes the rows in blocks (above, upTo]. */
  removeRange(above: number, upTo: number): void;
  /**
   * Removes rows above a block whose transaction was found again: a reorganisation can move a transaction to a
   * lower block than it was seen in, out of the reach of `removeRange`. Returns the payments that lost a row.
   */
  removeMoved(found: FoundRows, above: number): PaymentId[];
  /** Those that are not there with the same contents. */
  missing<Found extends FoundRows>(found: Found): Found;
  /**
   * Adds rows; one that is there already counts once. Returns those that are new.
   *
   * @throws ObservationConflictError when the same log is there with other contents, or its transaction in another block
   */
  add(found: FoundRows): FoundRows;
}

/** One row as its table has it, position first; amounts as decimal text. */
interface TableRow {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly paymentId: PaymentId;
  readonly amounts: readonly string[];
}

type RangeRow = [
  transactionHash: string,
  logIndex: number,
  blockNumber: number,
  paymentId: PaymentId,
  ...amounts: string[],
];

interface ObservationTable {
  paymentsAbove(blockNumber: number): PaymentId[];
  readRange(above: number, upTo: number): TableRow[];
  removeRange(above: number, upTo: number): void;
  removeTransaction(transactionHash: string, above: number): PaymentId[];
  has(row: TableRow): boolean;
  add(row: TableRow): boolean;
}

function createObservationRows(database: DatabaseSync): ObservationRows {
  const deposits = prepareTable(database, 'deposits', ['units']);
  const releases = prepareTable(database, 'releases', ['to_merchant_units', 'fee_units']);
  const tables = [deposits, releases];

  return {
    paymentsAbove: (blockNumber) => new Set(tables.flatMap((table) => table.paymentsAbove(blockNumber))),
    readRange: (above, upTo) => ({
      deposits: deposits.readRange(above, upTo).map(depositOfRow),
      releases: releases.readRange(above, upTo).map(releaseOfRow),
    }),
    removeRange(above, upTo) {
      for (const table of tables) table.removeRange(above, upTo);
    },
    removeMoved(found, above) {
      const rows = [...found.deposits, ...found.releases];
      const hashes = [...new Set(rows.map((row) => row.transactionHash))];
      return hashes.flatMap((hash) => tables.flatMap((table) => table.removeTransaction(hash, above)));
    },
    missing: (found) => ({
      ...found,
      deposits: found.deposits.filter((deposit) => !deposits.has(rowOfDeposit(deposit))),
      releases: found.releases.filter((release) => !releases.has(rowOfRelease(release))),
    }),
    add: (found) => ({
      deposits: found.deposits.filter((deposit) => deposits.add(rowOfDeposit(deposit))),
      releases: found.releases.filter((release) => releases.add(rowOfRelease(release))),
    }),
  };
}

function rowOfDeposit(deposit: FoundRows['deposits'][number]): TableRow {
  return { ...deposit, amounts: [deposit.units.toString()] };
}

function rowOfRelease(release: FoundRows['releases'][number]): TableRow {
  return { ...release, amounts: [release.toMerchantUnits.toString(), release.feeUnits.toString()] };
}

function depositOfRow({ amounts: [units = ''], ...position }: TableRow): MovedRows['deposits'][number] {
  return { ...position, units: BigInt(units) };
}

function releaseOfRow({
  amounts: [toMerchantUnits = '', feeUnits = ''],
  ...position
}: TableRow): MovedRows['releases'][number] {
  return { ...position, toMerchantUnits: BigInt(toMerchantUnits), feeUnits: BigInt(feeUnits) };
}

function prepareTable(
  database: DatabaseSync,
  table: string,
  amountColumns: readonly string[],
): ObservationTable {
  const columns = ['transaction_hash', 'log_index', 'block_number', 'payment_id', ...amountColumns];
  // Not DISTINCT: for that SQLite would walk along the index on the payment, and so along all rows there ever were.
  const selectAbove = database.prepare(`SELECT payment_id FROM ${table} WHERE block_number > ?`);
  const selectRange = database.prepare(
    `SELECT ${columns.join(', ')} FROM ${table} WHERE block_number > ? AND block_number <= ?`,
  );
  selectRange.setReturnArrays(true);
  const removeRange = database.prepare(`DELETE FROM ${table} WHERE block_number > ? AND block_number <= ?`);
  const removeTransaction = database.prepare(
    `DELETE FROM ${table} WHERE transaction_hash = ? AND block_number > ? RETURNING payment_id`,
  );
  const insert = database.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})
     ON CONFLICT (transaction_hash, log_index) DO NOTHING`,
  );
  const selectSame = database.prepare(
    `SELECT 1 FROM ${table} WHERE ${columns.map((column) => `${column} = ?`).join(' AND ')}`,
  );
  const selectElsewhere = database.prepare(
    `SELECT block_number FROM ${table} WHERE transaction_hash = ? AND block_number <> ? LIMIT 1`,
  );

  const valuesOf = ({ transactionHash, logIndex, blockNumber, paymentId, amounts }: TableRow) => [
    transactionHash,
    logIndex,
    blockNumber,
    paymentId,
    ...amounts,
  ];

  return {
    has: (row) => selectSame.get(...valuesOf(row)) !== undefined,
    paymentsAbove: (blockNumber) => selectAbove.all(blockNumber).map((row) => row.payment_id as PaymentId),
    readRange: (above, upTo) =>
      (selectRange.all(above, upTo) as unknown as RangeRow[]).map(
        ([transactionHash, logIndex, blockNumber, paymentId, ...amounts]) => ({
          transactionHash,
          logIndex,
          blockNumber,
          paymentId,
          amounts,
        }),
      ),
    removeRange: (above, upTo) => void removeRange.run(above, upTo),
    removeTransaction: (transactionHash, above) =>
      removeTransaction.all(transactionHash, above).map((row) => row.payment_id as PaymentId),
    add(row) {
      const { transactionHash, logIndex, blockNumber } = row;
      const elsewhere = selectElsewhere.get(transactionHash, blockNumber);
      if (elsewhere !== undefined) {
        throw elsewhereError(transactionHash, elsewhere.block_number as number, blockNumber);
      }
      const values = valuesOf(row);
      if (insert.run(...values).changes === 1) return true;
      if (selectSame.get(...values) !== undefined) return false;
      throw contentsError(transactionHash, logIndex);
    },
  };
}
