import type { PaymentReference } from '../../domain/payment.ts';
import type { BlockReference, ScanRecord } from '../../domain/ports/settlement-store.ts';
import { contentsError, elsewhereError, isCursor } from '../observation-rules.ts';
import { MAXIMUM_CHECKPOINTS } from '../store.ts';
import type { Connection } from './open-database.ts';
import {
  namesOf,
  type Statement,
  statement,
  type TypedColumn,
  unnest,
  valuesByColumn,
} from './statements.ts';

/** What was seen on chain, in two tables alike. With the observations locked. */

/** With the names of `PaymentReference`. */
const reference = 'payment_id AS id, account_id AS "accountId"';

export type FoundRows = Pick<ScanRecord, 'deposits' | 'releases'>;

/** One row as its table has it, position first. */
interface TableRow {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly accountId: string;
  readonly paymentId: PaymentReference['id'];
  readonly amounts: readonly bigint[];
}

interface ObservationTable {
  readonly rowsOf: (found: FoundRows) => TableRow[];
  readonly columns: readonly TypedColumn[];
  readonly selectAbove: Statement;
  readonly selectRange: Statement;
  readonly removeRange: Statement;
  readonly removeMoved: Statement;
  readonly selectKnown: Statement;
  readonly insert: Statement;
}

const depositTable = describeTable('deposits', ['units'], ({ deposits }) =>
  deposits.map((deposit) => ({ ...deposit, amounts: [deposit.units] })),
);
const releaseTable = describeTable('releases', ['to_merchant_units', 'fee_units'], ({ releases }) =>
  releases.map((release) => ({ ...release, amounts: [release.toMerchantUnits, release.feeUnits] })),
);
const tables = [depositTable, releaseTable];

function describeTable(
  name: string,
  amountColumns: readonly string[],
  rowsOf: ObservationTable['rowsOf'],
): ObservationTable {
  const columns: readonly TypedColumn[] = [
    ['transaction_hash', 'text'],
    ['log_index', 'integer'],
    ['block_number', 'bigint'],
    ['account_id', 'text'],
    ['payment_id', 'text'],
    ...amountColumns.map((column): TypedColumn => [column, 'numeric']),
  ];
  const amounts = amountColumns.map((column) => `${column}::text`).join(', ');
  const selected = `transaction_hash AS "transactionHash", log_index AS "logIndex", block_number AS "blockNumber",
    account_id AS "accountId", payment_id AS "paymentId", ARRAY[${amounts}] AS amounts`;
  return {
    rowsOf,
    columns,
    selectAbove: statement(`SELECT DISTINCT ${reference} FROM ${name} WHERE block_number > $1`),
    selectRange: statement(`SELECT ${selected} FROM ${name} WHERE block_number > $1 AND block_number <= $2`),
    removeRange: statement(`DELETE FROM ${name} WHERE block_number > $1 AND block_number <= $2`),
    removeMoved: statement(
      `DELETE FROM ${name} WHERE transaction_hash = ANY($1::text[]) AND block_number > $2
       RETURNING ${reference}`,
    ),
    selectKnown: statement(`SELECT ${selected} FROM ${name} WHERE transaction_hash = ANY($1::text[])`),
    insert: statement(
      `INSERT INTO ${name} (${namesOf(columns)}) SELECT ${namesOf(columns)} FROM ${unnest('found', columns)}`,
    ),
  };
}

/** The payments that have a row above a block; one may be there twice. */
export async function paymentsAbove(
  connection: Connection,
  blockNumber: number,
): Promise<PaymentReference[]> {
  const found: PaymentReference[] = [];
  for (const { selectAbove } of tables)
    found.push(...(await connection.query<PaymentReference>(selectAbove, [blockNumber])));
  return found;
}

/** The rows in blocks (above, upTo]. */
export async function readRange(connection: Connection, above: number, upTo: number): Promise<FoundRows> {
  const read = async ({ selectRange }: ObservationTable) =>
    (await connection.query<KnownRow>(selectRange, [above, upTo])).map(rowOfKnown);
  return foundRows(await read(depositTable), await read(releaseTable));
}

function foundRows(deposits: readonly TableRow[], releases: readonly TableRow[]): FoundRows {
  return {
    deposits: deposits.map(({ amounts: [units = 0n], ...position }) => ({ ...position, units })),
    releases: releases.map(({ amounts: [toMerchantUnits = 0n, feeUnits = 0n], ...position }) => ({
      ...position,
      toMerchantUnits,
      feeUnits,
    })),
  };
}

/** Removes the rows in blocks (above, upTo]. */
export async function removeRange(connection: Connection, above: number, upTo: number): Promise<void> {
  for (const table of tables) await connection.execute(table.removeRange, [above, upTo]);
}

/**
 * Removes rows above a block whose transaction was found again: a reorganisation can move a transaction to a lower
 * block than it was seen in, out of the reach of `removeRange`. Returns the payments that lost a row.
 */
export async function removeMoved(
  connection: Connection,
  found: FoundRows,
  above: number,
): Promise<PaymentReference[]> {
  const hashes = hashesOf([...found.deposits, ...found.releases]);
  if (hashes.length === 0) return [];
  const removed: PaymentReference[] = [];
  for (const table of tables)
    removed.push(...(await connection.query<PaymentReference>(table.removeMoved, [hashes, above])));
  return removed;
}

/** Those that are not there with the same contents. */
export async function missingRows<Found extends FoundRows>(
  connection: Connection,
  found: Found,
): Promise<Found> {
  const isMissing = async (table: ObservationTable) => {
    const rows = table.rowsOf(found);
    const known = rows.length === 0 ? [] : await readKnown(connection, table, hashesOf(rows));
    const contents = new Set(known.map((row) => valuesOf(row).join()));
    return rows.map((row) => !contents.has(valuesOf(row).join()));
  };
  const [deposits, releases] = [await isMissing(depositTable), await isMissing(releaseTable)];
  return {
    ...found,
    deposits: found.deposits.filter((_, index) => deposits[index]),
    releases: found.releases.filter((_, index) => releases[index]),
  };
}

/**
 * Adds rows; one that is there already counts once. Returns those that are new.
 *
 * @throws ObservationConflictError when the same log is there with other contents, or its transaction in another block;
 * another error when a row is of a payment that does not exist
 */
export async function addRows(connection: Connection, found: FoundRows): Promise<FoundRows> {
  return foundRows(
    await addTo(depositTable, connection, found),
    await addTo(releaseTable, connection, found),
  );
}

async function addTo(table: ObservationTable, connection: Connection, found: FoundRows): Promise<TableRow[]> {
  const rows = table.rowsOf(found);
  if (rows.length === 0) return [];
  const fresh = newRows(rows, await readKnown(connection, table, hashesOf(rows)));
  await connection.execute(table.insert, valuesByColumn(table.columns, fresh.map(valuesOf)));
  return fresh;
}

type KnownRow = Omit<TableRow, 'amounts'> & { readonly amounts: readonly string[] };

function rowOfKnown(row: KnownRow): TableRow {
  return { ...row, amounts: row.amounts.map(BigInt) };
}

async function readKnown(
  connection: Connection,
  table: ObservationTable,
  hashes: readonly string[],
): Promise<TableRow[]> {
  return (await connection.query<KnownRow>(table.selectKnown, [hashes])).map(rowOfKnown);
}

/** The rows that are neither known nor repeated; throws where one contradicts another. */
function newRows(rows: readonly TableRow[], known: readonly TableRow[]): TableRow[] {
  const blocks = new Map(known.map((row) => [row.transactionHash, row.blockNumber]));
  const logs = new Map(known.map((row) => [logOf(row), row]));
  return rows.filter((row) => {
    const { transactionHash, blockNumber, logIndex } = row;
    const block = blocks.get(transactionHash) ?? blockNumber;
    if (block !== blockNumber) {
      throw elsewhereError(transactionHash, block, blockNumber);
    }
    const same = logs.get(logOf(row));
    if (same !== undefined && valuesOf(same).join() !== valuesOf(row).join()) {
      throw contentsError(transactionHash, logIndex);
    }
    blocks.set(transactionHash, blockNumber);
    logs.set(logOf(row), row);
    return same === undefined;
  });
}

function logOf({ transactionHash, logIndex }: TableRow): string {
  return `${transactionHash}:${logIndex}`;
}

function valuesOf(row: TableRow): unknown[] {
  const { transactionHash, logIndex, blockNumber, accountId, paymentId, amounts } = row;
  return [transactionHash, logIndex, blockNumber, accountId, paymentId, ...amounts];
}

function hashesOf(rows: readonly { readonly transactionHash: string }[]): string[] {
  return [...new Set(rows.map((row) => row.transactionHash))];
}

/** The final blocks that were scanned up to; the newest is the cursor. */

const lock = statement('LOCK TABLE checkpoints IN EXCLUSIVE MODE');
const select = statement(
  'SELECT number, hash, timestamp_ms AS "timestampMs" FROM checkpoints ORDER BY number DESC LIMIT $1',
);
const selectHash = statement('SELECT hash FROM checkpoints WHERE number = $1');
const insert = statement('INSERT INTO checkpoints (number, hash, timestamp_ms) VALUES ($1, $2, $3)');
const prune = statement(`
  DELETE FROM checkpoints WHERE number <=
    (SELECT number FROM checkpoints ORDER BY number DESC LIMIT 1 OFFSET ${MAXIMUM_CHECKPOINTS})`);
const removeFrom = statement('DELETE FROM checkpoints WHERE number >= $1');

/** Makes whoever else writes to the observations wait until the transaction ends; readers are not held up. */
export async function lockObservations(connection: Connection): Promise<void> {
  await connection.execute(lock);
}

/** Newest first. */
export function listCheckpoints(connection: Connection, limit: number): Promise<BlockReference[]> {
  return connection.query<BlockReference>(select, [limit]);
}

export async function newestCheckpoint(connection: Connection): Promise<BlockReference | null> {
  const [newest] = await listCheckpoints(connection, 1);
  return newest ?? null;
}

/** Null where there is no checkpoint. */
export async function checkpointHashAt(connection: Connection, blockNumber: number): Promise<string | null> {
  const [found] = await connection.query<{ hash: string }>(selectHash, [blockNumber]);
  return found?.hash ?? null;
}

/** Moves the cursor on, and forgets the oldest checkpoint when there are too many. With the observations locked. */
export async function addCheckpoint(connection: Connection, block: BlockReference): Promise<void> {
  if (isCursor(await newestCheckpoint(connection), block)) return;
  await connection.execute(insert, [block.number, block.hash, block.timestampMs]);
  await connection.execute(prune);
}

/** Forgets every checkpoint above the block and makes it the cursor. With the observations locked. */
export async function rewindCheckpoints(connection: Connection, block: BlockReference): Promise<void> {
  await connection.execute(removeFrom, [block.number]);
  await connection.execute(insert, [block.number, block.hash, block.timestampMs]);
}
