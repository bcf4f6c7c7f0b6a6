import type { ChainPosition, PaymentId } from '../payment/payment.ts';
import type { Decide } from '../payment/payment-store.ts';
import {
  entriesAfter,
  entriesOf,
  filterRows,
  type JournalEntry,
  type JournalFacts,
  type JournalHead,
  type MovedRows,
  NO_MOVEMENTS,
  netEntries,
  placeOfEntry,
  type RowOwner,
  takenBack,
} from '../settlement/journal.ts';
import {
  type BlockReference,
  type ObservationStore,
  type ScanRecord,
  ScanRefusedError,
} from '../settlement/settlement-store.ts';
import type { Row, Table } from './columns.ts';
import { type Decisions, EXPIRY_WATERMARK, NO_FINAL_BLOCK, watermarkBefore } from './payments.ts';
import { noteCaughtUp } from './restores.ts';
import {
  type Fragment,
  lock,
  raw,
  run,
  runForOne,
  type Script,
  type Scripts,
  type StoredTable,
  sql,
} from './scripts.ts';
import type { StoredFeature } from './stored-feature.ts';
import {
  checkpointTable,
  depositSumTable,
  depositTable,
  journalTable,
  releaseSumTable,
  releaseTable,
} from './tables.ts';

export function createObservationStore(
  scripts: Scripts,
  nowMs: () => number,
  { decideAll }: Decisions,
  features: readonly StoredFeature[],
): ObservationStore {
  const { read } = scripts;
  /** Write method that serializes writers across all instances. */
  const write: Scripts['write'] = (script) =>
    scripts.write(function* (...given) {
      yield* lock('observations');
      return yield* script(...given);
    });

  return {
    readCursor: read(newestCheckpoint),
    startCursor: write(function* (block) {
      if ((yield* newestCheckpoint()) === null) yield* addCheckpoint(block);
    }),
    recordScan: write(function* (scan, decide) {
      checkScan(scan);
      requireCursor(yield* newestCheckpoint(), scan.from);
      const before = yield* listRowsAbove(scan.from.number);
      yield* removeRange(scan.from.number, scan.scannedTo);
      yield* removeMoved(scan, scan.from.number);
      const found: MovedRows = { ...scan, ...(yield* addRows(scan)) };
      // Omits rows above the final block from the journal, because the next scan replaces them.
      const final = filterRows(found, ({ blockNumber }) => blockNumber <= scan.final.number);
      yield* appendEntries(yield* newEntries(entriesOf(final)), nowMs());
      yield* foldDust([...scan.deposits, ...scan.releases], scan.final.number);
      yield* addCheckpoint(scan.final);
      yield* decideAll([...before.map(paymentOf), ...paymentsOf(scan)], decide);
      yield* noteCaughtUp(scan.final.number, nowMs());
      return { hasRowsAbove: before.some((row) => Number(row['block_number']) > scan.scannedTo) };
    }),
    listVanished: read(function* ({ from, final, ...found }) {
      const recorded = yield* readRange(from.number, final.number);
      const hashes = new Set(hashesOf([...found.deposits, ...found.releases]));
      return filterRows(recorded, ({ transactionHash }) => !hashes.has(transactionHash));
    }),
    listMissing: (found) => read(() => missingRows(found))(),
    recordMissed: write(function* (missed, decide) {
      const { from } = missed;
      yield* requireCheckpoint(from);
      const finalNumber = yield* newestFinalNumber();
      requireFinal(missed, finalNumber);
      const moved = yield* removeMoved(missed, finalNumber);
      const found = yield* addRows(missed);
      const entered = yield* newEntries(entriesOf({ ...missed, ...found }));
      yield* appendEntries(entered, nowMs());
      yield* foldDust([...found.deposits, ...found.releases], finalNumber);
      const added = paymentsOf(found);
      yield* decideAll([...moved, ...added], decide);
      return { added: added.length + entered.filter(({ kind }) => kind === 'rescued').length };
    }),
    listCheckpoints: read((limit) => checkpointTable.select`ORDER BY number DESC LIMIT ${limit}`),
    rewindTo: write(function* (block, decide) {
      const lost = yield* readRange(block.number, yield* newestFinalNumber());
      const entered = yield* journalTable.select`
        WHERE kind = 'rescued' AND block_number > ${block.number} ORDER BY number`;
      const taken = takenBack([...entriesOf(lost), ...netEntries(entered)]);
      yield* appendEntries(taken, nowMs());
      const affected = yield* listRowsAbove(block.number);
      yield* unfold(block.number);
      yield* removeRange(block.number, Number.MAX_SAFE_INTEGER);
      yield* run`DELETE FROM checkpoints WHERE number >= ${block.number}`;
      yield* checkpointTable.insert(block);
      for (const feature of features) yield* feature.revertedAbove?.(block.number, nowMs()) ?? [];
      yield* decideAll(affected.map(paymentOf), decide);
    }),
    listEntries: read(
      (after, limit) => journalTable.select`WHERE number > ${after} ORDER BY number LIMIT ${limit}`,
    ),
    listEntriesOf: read(
      (id, after = 0) => journalTable.select`
        WHERE payment_id = ${id} AND number > ${after} ORDER BY number LIMIT ${ROWS_AT_A_TIME}`,
    ),
    listFolded: read(function* (id, after) {
      return {
        deposits: yield* readFolded(depositTable, id, after.deposits.at(-1)),
        releases: yield* readFolded(releaseTable, id, after.releases.at(-1)),
      };
    }),
    readExpiryWatermark: read(function* () {
      const watermark = yield* runForOne<{ id: string }>`
        SELECT payment_id AS id FROM watermarks WHERE name = ${EXPIRY_WATERMARK}`;
      return watermark?.id ?? '';
    }),
    advanceExpiryWatermark: scripts.write(function* (ids, { from, to }, decide) {
      const stop = stopBeforeRevisited(to, decide);
      yield* decideAll(ids, stop.decide);
      yield* run`
        INSERT INTO watermarks AS present (name, payment_id) VALUES (${EXPIRY_WATERMARK}, ${stop.reached()})
        ON CONFLICT (name) DO UPDATE SET payment_id = excluded.payment_id WHERE present.payment_id = ${from}`;
    }),
  };
}

function paymentsOf({ deposits, releases }: Pick<ScanRecord, 'deposits' | 'releases'>): PaymentId[] {
  return [...deposits, ...releases].map(({ paymentId }) => paymentId);
}

/** Returns the rescues that are missing from the journal. Only the journal records rescues. */
function* missingRescues({ rescues = [] }: MovedRows): Script<NonNullable<MovedRows['rescues']>> {
  const entries = yield* newEntries(entriesOf({ deposits: [], releases: [], rescues }));
  const missing = new Set(entries.map(logOf));
  return rescues.filter((rescue) => missing.has(logOf(rescue)));
}

/** Returns the cursor: the newest final block that was scanned. */
function newestCheckpoint(): Script<BlockReference | null> {
  return checkpointTable.selectOne`ORDER BY number DESC LIMIT 1`;
}

function* newestFinalNumber(): Script<number> {
  return (yield* newestCheckpoint())?.number ?? NO_FINAL_BLOCK;
}

/** Maximum number of stored checkpoints, among which a rewind searches for the last block of the current chain. */
const MAXIMUM_CHECKPOINTS = 200;

/** Adds a checkpoint as the new cursor and deletes the oldest ones beyond the maximum. */
function* addCheckpoint(block: BlockReference): Script<void> {
  if (isCursor(yield* newestCheckpoint(), block)) return;
  yield* checkpointTable.insert(block);
  yield* run`
    DELETE FROM checkpoints WHERE number <=
      (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${raw(MAXIMUM_CHECKPOINTS)})`;
}

// Deposits and releases are observations in two tables of similar shape. Writers hold the `observations` lock.

type FoundRows = Pick<ScanRecord, 'deposits' | 'releases'>;

type Observed<Position> = Position & RowOwner;

const tables = [depositTable, releaseTable] as const;

function* listRowsAbove(blockNumber: number): Script<readonly Row[]> {
  // Avoids DISTINCT, with which SQLite would scan the whole index on the payment.
  return yield* run`
    SELECT payment_id, block_number FROM deposits WHERE block_number > ${blockNumber}
    UNION ALL SELECT payment_id, block_number FROM releases WHERE block_number > ${blockNumber}`;
}

/** Reads the rows of blocks above `above`, up to and including `upTo`. */
function* readRange(above: number, upTo: number): Script<MovedRows> {
  const isWithin = sql`block_number > ${above} AND block_number <= ${upTo}`;
  return {
    deposits: yield* readRows(depositTable, isWithin),
    releases: yield* readRows(releaseTable, isWithin),
  };
}

function* removeRange(above: number, upTo: number): Script<void> {
  for (const { name } of tables) {
    yield* run`DELETE FROM ${raw(name)} WHERE block_number > ${above} AND block_number <= ${upTo}`;
  }
}

/** Removes rows that a reorganization moved to a lower block. Returns their payments. */
function* removeMoved({ deposits, releases }: FoundRows, above: number): Script<PaymentId[]> {
  const hashes = hashesOf([...deposits, ...releases]);
  if (hashes.length === 0) return [];
  const removed: PaymentId[] = [];
  for (const { name } of tables) {
    const moved = yield* run`
      DELETE FROM ${raw(name)} WHERE transaction_hash = ANY(${hashes}) AND block_number > ${above}
      RETURNING payment_id`;
    removed.push(...moved.map(paymentOf));
  }
  return removed;
}

function* missingRows<Found extends MovedRows>(found: Found): Script<Found> {
  return {
    ...found,
    deposits: yield* missingFrom(depositTable, found.deposits),
    releases: yield* missingFrom(releaseTable, found.releases),
    rescues: yield* missingRescues(found),
  };
}

function* missingFrom<Position extends ChainPosition, Given extends Observed<Position>>(
  table: Table<Position>,
  rows: readonly Given[],
): Script<Given[]> {
  const known = yield* readKnown(table, rows);
  const contents = new Set(known.map((row) => contentsOf(table, row)));
  return rows.filter((row) => !contents.has(contentsOf(table, row)));
}

/** Adds rows that are not stored yet and returns these. Throws `ScanRefusedError` for contradicting rows. */
function* addRows({ deposits, releases }: FoundRows): Script<FoundRows> {
  return { deposits: yield* addTo(depositTable, deposits), releases: yield* addTo(releaseTable, releases) };
}

function* addTo<Position extends ChainPosition, Given extends Observed<Position>>(
  table: StoredTable<Position>,
  rows: readonly Given[],
): Script<Given[]> {
  const fresh = newRows(table, rows, yield* readKnown(table, rows));
  yield* table.insertRows(fresh.map((row) => [...table.valuesOf(row), row.paymentId]));
  return fresh;
}

const ROWS_AT_A_TIME = 1_000;

type ChainTable = StoredTable<ChainPosition & Readonly<Record<string, unknown>>>;

const foldable = [
  [depositTable, depositSumTable],
  [releaseTable, releaseSumTable],
] as unknown as readonly (readonly [ChainTable, ChainTable])[];

/** Number of unfolded rows above which a payment's dust is folded. Real payments have only a few deposits. */
const MAXIMUM_UNFOLDED = 100;

/** Returns the condition for rows with amounts below 0.01 USDC, which have at most four digits. */
function dustOf({ columns }: Pick<Table, 'columns'>): Fragment {
  const amounts = columns.filter(({ kind }) => kind === 'amount');
  return raw(amounts.map(({ name }) => `length(CAST(${name} AS text)) <= 4`).join(' AND '));
}

/**
 * Folds the final dust rows of payments with too many rows: views contain their sum instead. Otherwise, anyone could
 * slow down decisions by sending single units. The rows themselves remain for `verify` and for repeated scans.
 */
function* foldDust(rows: readonly RowOwner[], finalNumber: number): Script<void> {
  const ids = [...new Set(rows.map(({ paymentId }) => paymentId))];
  if (ids.length === 0) return;
  for (const [table, sums] of foldable) {
    const crowded = yield* run`
      SELECT payment_id FROM ${raw(table.name)} WHERE payment_id = ANY(${ids}) AND folded = 0
      GROUP BY payment_id HAVING count(*) > ${MAXIMUM_UNFOLDED}`;
    for (const row of crowded) yield* foldRows(table, sums, paymentOf(row), finalNumber);
  }
}

function* foldRows(table: ChainTable, sums: ChainTable, id: PaymentId, finalNumber: number): Script<void> {
  const ofPayment = sql`payment_id = ${id}`;
  const isFolded = sql`${ofPayment} AND folded = 0 AND block_number <= ${finalNumber} AND ${dustOf(table)}`;
  const rows = yield* table.select`WHERE ${isFolded} ORDER BY block_number, log_index`;
  if (rows.length === 0) return;
  const before = yield* sums.select`WHERE ${ofPayment}`;
  const last = [...before, ...rows].reduce((one, other) =>
    other.blockNumber < one.blockNumber ? one : other,
  );
  const sum: Record<string, unknown> = {};
  for (const { field, kind } of table.columns) {
    if (field === null || kind !== 'amount') continue;
    sum[field] = [...before, ...rows].reduce((units, row) => units + (row[field] as bigint), 0n);
  }
  const logIndex = last.logIndex < 0 ? last.logIndex : -1 - last.logIndex;
  yield* run`UPDATE ${raw(table.name)} SET folded = 1 WHERE ${isFolded}`;
  yield* run`DELETE FROM ${raw(sums.name)} WHERE ${ofPayment}`;
  yield* sums.insertRows([[...sums.valuesOf({ ...last, ...sum, logIndex }), id]]);
}

function* unfold(blockNumber: number): Script<void> {
  for (const [{ name }, sums] of foldable) {
    const dissolved = yield* run`
      DELETE FROM ${raw(sums.name)} WHERE block_number > ${blockNumber} RETURNING payment_id`;
    for (const sum of dissolved) {
      yield* run`UPDATE ${raw(name)} SET folded = 0 WHERE payment_id = ${paymentOf(sum)} AND folded = 1`;
    }
  }
}

function readFolded<Position extends ChainPosition>(
  table: StoredTable<Position>,
  id: PaymentId,
  after: ChainPosition | undefined,
): Script<Position[]> {
  return table.select`
    WHERE payment_id = ${id} AND folded = 1
      AND (block_number, log_index) > (${after?.blockNumber ?? -1}, ${after?.logIndex ?? -1})
    ORDER BY block_number, log_index LIMIT ${ROWS_AT_A_TIME}`;
}

/** Returns rows that are neither stored nor duplicates. Throws `ScanRefusedError` if two rows contradict each other. */
function newRows<Position extends ChainPosition, Given extends Observed<Position>>(
  table: Table<Position>,
  rows: readonly Given[],
  known: readonly Observed<Position>[],
): Given[] {
  const blocks = new Map(known.map((row) => [row.transactionHash, row.blockNumber]));
  const logs = new Map(known.map((row) => [logOf(row), row]));
  return rows.filter((row) => {
    const { transactionHash, blockNumber, logIndex } = row;
    const block = blocks.get(transactionHash) ?? blockNumber;
    if (block !== blockNumber) {
      const message = `transaction ${transactionHash} is in block ${block} and was found in ${blockNumber}`;
      throw new ScanRefusedError(message, 'rows');
    }
    const same = logs.get(logOf(row));
    if (same !== undefined && contentsOf(table, same) !== contentsOf(table, row)) {
      const message = `log ${logIndex} of transaction ${transactionHash} was found with other contents`;
      throw new ScanRefusedError(message, 'rows');
    }
    blocks.set(transactionHash, blockNumber);
    logs.set(logOf(row), row);
    return same === undefined;
  });
}

function* readKnown<Position extends ChainPosition>(
  table: Table<Position>,
  rows: readonly ChainPosition[],
): Script<Observed<Position>[]> {
  if (rows.length === 0) return [];
  return yield* readRows(table, sql`transaction_hash = ANY(${hashesOf(rows)})`);
}

function* readRows<Position>(table: Table<Position>, condition: Fragment): Script<Observed<Position>[]> {
  const rows = yield* run`
    SELECT ${raw(table.names)}, payment_id FROM ${raw(table.name)} WHERE ${condition}`;
  return rows.map((row) => ({ ...table.ofRow(row), paymentId: paymentOf(row) }));
}

function paymentOf(row: Row): PaymentId {
  return row['payment_id'] as PaymentId;
}

function contentsOf<Position>(table: Table<Position>, row: Observed<Position>): string {
  return [...table.valuesOf(row), row.paymentId].join();
}

function logOf({ transactionHash, logIndex }: ChainPosition): string {
  return `${transactionHash}:${logIndex}`;
}

function hashesOf(rows: readonly ChainPosition[]): string[] {
  return [...new Set(rows.map((row) => row.transactionHash))];
}

/** Throws `RangeError` if a scan has rows outside its range, or ends before its final block. */
function checkScan(scan: ScanRecord): void {
  const { from, final, scannedTo } = scan;
  if (final.number < from.number || scannedTo < final.number) {
    throw new RangeError(`a scan from ${from.number} to ${scannedTo} cannot be final up to ${final.number}`);
  }
  for (const { blockNumber } of allRows(scan)) {
    if (blockNumber <= from.number || blockNumber > scannedTo) {
      throw new RangeError(`block ${blockNumber} is outside the scan from ${from.number} to ${scannedTo}`);
    }
  }
}

function allRows({ deposits, releases, rescues = [] }: MovedRows): ChainPosition[] {
  return [...deposits, ...releases, ...rescues];
}

/** Throws `ScanRefusedError` if the block is no longer a checkpoint, as after a rewind below it. */
export function* requireCheckpoint({ number, hash }: BlockReference): Script<void> {
  const checkpoint = yield* checkpointTable.selectOne`WHERE number = ${number}`;
  if (checkpoint?.hash !== hash)
    throw new ScanRefusedError(`block ${number} (${hash}) is no checkpoint any more`);
}

/** Throws `ScanRefusedError` if another writer has moved the cursor. */
function requireCursor(cursor: BlockReference | null, from: BlockReference): void {
  if (cursor?.number === from.number && cursor.hash === from.hash) return;
  const found = cursor === null ? 'not set' : `at block ${cursor.number} (${cursor.hash})`;
  throw new ScanRefusedError(
    `a scan began at block ${from.number} (${from.hash}), but the cursor is ${found}`,
  );
}

/** Throws `RangeError` for a missed row above the final block, because the next scan covers those blocks anyway. */
function requireFinal(missed: MovedRows, finalNumber: number): void {
  const provisional = allRows(missed).find(({ blockNumber }) => blockNumber > finalNumber);
  if (provisional === undefined) return;
  throw new RangeError(`block ${provisional.blockNumber} is not among the final blocks that were scanned`);
}

/** Returns whether the cursor is this block. Throws `ScanRefusedError` for another block with the same number. */
function isCursor(cursor: BlockReference | null, block: BlockReference): boolean {
  if (cursor?.number !== block.number) return false;
  if (cursor.hash === block.hash) return true;
  throw new ScanRefusedError(`final block ${block.number} was ${cursor.hash} and is now ${block.hash}`);
}

/** Wraps a decision to find where the watermark must stop: before the first payment to revisit. */
function stopBeforeRevisited(to: string, decide: Decide): { decide: Decide; reached(): string } {
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

/** Appends to the journal. The `observations` lock prevents forks of its hash chain. */
function* appendEntries(entries: readonly JournalFacts[], recordedAtMs: number): Script<void> {
  if (entries.length === 0) return;
  const head = yield* runForOne<JournalHead>`SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1`;
  const appended = entriesAfter(head ?? NO_MOVEMENTS, entries, recordedAtMs);
  yield* journalTable.insertRows(appended.map(journalTable.valuesOf));
}

/** Returns USDC sums by payment and kind. To avoid overflow, amounts of over twelve digits are separate rows. */
export function* listPaymentSums(
  ids: readonly PaymentId[],
): Script<readonly Pick<JournalEntry, 'paymentId' | 'kind' | 'units'>[]> {
  const ofPayments = sql`FROM journal WHERE token IS NULL AND payment_id = ANY(${ids})`;
  const rows = yield* run`
    SELECT payment_id, kind, CAST(sum(CAST(units AS bigint)) AS text) AS units ${ofPayments}
      AND length(CAST(units AS text)) <= 12 GROUP BY payment_id, kind
    UNION ALL SELECT payment_id, kind, CAST(units AS text) ${ofPayments} AND length(CAST(units AS text)) > 12`;
  return rows.map((row) => ({
    paymentId: paymentOf(row),
    kind: row['kind'] as JournalEntry['kind'],
    units: BigInt(row['units'] as string),
  }));
}

/** Omits rescues that are already in the journal. Uses one read, because anyone can rescue worthless tokens often. */
function* newEntries(entries: readonly JournalFacts[]): Script<JournalFacts[]> {
  const isRescue = ({ kind }: JournalFacts) => kind === 'rescued';
  const blocks = new Set(entries.filter(isRescue).map(({ blockNumber }) => blockNumber));
  if (blocks.size === 0) return [...entries];
  const entered = yield* journalTable.select`
    WHERE kind = 'rescued' AND block_number = ANY(${[...blocks]}) ORDER BY number`;
  const places = new Set(netEntries(entered).map(placeOfEntry));
  return entries.filter((entry) => !isRescue(entry) || !places.has(placeOfEntry(entry)));
}
