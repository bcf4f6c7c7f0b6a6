import type { DatabaseSync } from 'node:sqlite';
import type { MovedRows } from '../../domain/movement.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { ScanRecord } from '../../domain/ports/ledger-store.ts';
import { contentsError, elsewhereError } from '../ledger-rules.ts';

export type FoundRows = Pick<ScanRecord, 'deposits' | 'releases'>;

/** What was seen on chain, in two tables alike. Synchronous, inside a transaction. */
export interface LedgerRows {
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
   * @throws LedgerConflictError when the same log is there with other contents, or its transaction in another block
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

interface LedgerTable {
  paymentsAbove(blockNumber: number): PaymentId[];
  readRange(above: number, upTo: number): TableRow[];
  removeRange(above: number, upTo: number): void;
  removeTransaction(transactionHash: string, above: number): PaymentId[];
  has(row: TableRow): boolean;
  add(row: TableRow): boolean;
}

export function createLedgerRows(database: DatabaseSync): LedgerRows {
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

function prepareTable(database: DatabaseSync, table: string, amountColumns: readonly string[]): LedgerTable {
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
    ...[transactionHash, logIndex, blockNumber, paymentId],
    ...amounts,
  ];

  return {
    has: (row) => selectSame.get(...valuesOf(row)) !== undefined,
    paymentsAbove: (blockNumber) => selectAbove.all(blockNumber).map((row) => row.payment_id as PaymentId),
    readRange: (above, upTo) =>
      (selectRange.all(above, upTo) as unknown as RangeRow[]).map(
        ([transactionHash, logIndex, blockNumber, paymentId, ...amounts]) => ({
          ...{ transactionHash, logIndex, blockNumber, paymentId, amounts },
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
