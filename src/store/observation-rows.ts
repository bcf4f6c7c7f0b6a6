import type { MovedRows } from '../domain/journal.ts';
import type { ChainPosition } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { RowOwner, ScanRecord } from '../domain/ports/settlement-store.ts';
import type { Row, Table } from './columns.ts';
import { contentsError, elsewhereError } from './observation-rules.ts';
import { insertRows, type Rows, run, type Script } from './scripts.ts';
import { depositTable, releaseTable } from './tables.ts';

/** What was seen on chain, in two tables alike. Writers hold the lock of the observations. */

type FoundRows = Pick<ScanRecord, 'deposits' | 'releases'>;

/** A row with its payment; the table says the account only where it is distributed by it. */
type Observed<Position> = Position & Pick<RowOwner, 'paymentId'>;

const tables = [depositTable, releaseTable] as const;

/** The payments that have a row above a block; one may be there twice. */
export function* paymentsAbove(blockNumber: number): Script<PaymentId[]> {
  // Not DISTINCT: for that SQLite would walk along the index on the payment, and so along all rows there ever were.
  return paymentsOf(
    yield* run(
      `SELECT payment_id FROM deposits WHERE block_number > ?1
       UNION ALL SELECT payment_id FROM releases WHERE block_number > ?1`,
      blockNumber,
    ),
  );
}

/** The rows in blocks (above, upTo]. */
export function* readRange(above: number, upTo: number): Script<MovedRows> {
  const isWithin = 'block_number > ?1 AND block_number <= ?2';
  return {
    deposits: yield* readRows(depositTable, isWithin, above, upTo),
    releases: yield* readRows(releaseTable, isWithin, above, upTo),
  };
}

/** Removes the rows in blocks (above, upTo]. */
export function* removeRange(above: number, upTo: number): Script<void> {
  for (const { name } of tables) {
    yield* run(`DELETE FROM ${name} WHERE block_number > ?1 AND block_number <= ?2`, above, upTo);
  }
}

/**
 * Removes rows above a block whose transaction was found again: a reorganisation can move a transaction to a lower
 * block than it was seen in, out of the reach of `removeRange`. Returns the payments that lost a row.
 */
export function* removeMoved({ deposits, releases }: FoundRows, above: number): Script<PaymentId[]> {
  const hashes = hashesOf([...deposits, ...releases]);
  if (hashes.length === 0) return [];
  const removed: PaymentId[] = [];
  for (const { name } of tables) {
    const sql = `DELETE FROM ${name} WHERE transaction_hash = ANY(?1) AND block_number > ?2 RETURNING payment_id`;
    removed.push(...paymentsOf(yield* run(sql, hashes, above)));
  }
  return removed;
}

/** Those that are not there with the same contents. */
export function* missingRows<Found extends FoundRows>(found: Found): Script<Found> {
  return {
    ...found,
    deposits: yield* missingFrom(depositTable, found.deposits),
    releases: yield* missingFrom(releaseTable, found.releases),
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

/**
 * Adds rows; one that is there already counts once. Returns those that are new.
 *
 * @throws ObservationConflictError when the same log is there with other contents, or its transaction in another block;
 * another error when a row is of a payment that does not exist
 */
export function* addRows({ deposits, releases }: FoundRows): Script<FoundRows> {
  return { deposits: yield* addTo(depositTable, deposits), releases: yield* addTo(releaseTable, releases) };
}

function* addTo<Position extends ChainPosition, Given extends Position & RowOwner>(
  table: Table<Position>,
  rows: readonly Given[],
): Script<Given[]> {
  const fresh = newRows(table, rows, yield* readKnown(table, rows));
  yield* insertRows(
    table,
    fresh.map((row) => [...table.valuesOf(row), row.paymentId, row.accountId]),
  );
  return fresh;
}

/** The rows that are neither known nor repeated; throws where one contradicts another. */
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
    if (block !== blockNumber) throw elsewhereError(transactionHash, block, blockNumber);
    const same = logs.get(logOf(row));
    if (same !== undefined && contentsOf(table, same) !== contentsOf(table, row)) {
      throw contentsError(transactionHash, logIndex);
    }
    blocks.set(transactionHash, blockNumber);
    logs.set(logOf(row), row);
    return same === undefined;
  });
}

/** The rows of the same transactions that are there. */
function* readKnown<Position extends ChainPosition>(
  table: Table<Position>,
  rows: readonly ChainPosition[],
): Script<Observed<Position>[]> {
  return rows.length === 0 ? [] : yield* readRows(table, 'transaction_hash = ANY(?1)', hashesOf(rows));
}

function* readRows<Position>(
  table: Table<Position>,
  condition: string,
  ...values: readonly (number | readonly string[])[]
): Script<Observed<Position>[]> {
  const sql = `SELECT ${table.names}, payment_id FROM ${table.name} WHERE ${condition}`;
  return (yield* run(sql, ...values)).map((row) => ({ ...table.ofRow(row), paymentId: paymentOf(row) }));
}

function paymentsOf(rows: Rows): PaymentId[] {
  return rows.map(paymentOf);
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
