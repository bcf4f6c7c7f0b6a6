import type { DatabaseSync } from 'node:sqlite';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { ScanRecord } from '../../domain/ports/ledger-store.ts';
import { contentsError, elsewhereError } from '../ledger-rules.ts';

type FoundRows = Pick<ScanRecord, 'deposits' | 'releases'>;

/** What was seen on chain, in two tables alike. Synchronous, inside a transaction. */
export interface LedgerRows {
  /** The payments that have a row above a block. */
  paymentsAbove(blockNumber: number): Set<PaymentId>;
  /** Removes the rows in blocks (above, upTo]. */
  removeRange(above: number, upTo: number): void;
  /**
   * Removes rows above a block whose transaction was found again: a reorganisation can move a transaction to a
   * lower block than it was seen in, out of the reach of `removeRange`. Returns the payments that lost a row.
   */
  removeMoved(found: FoundRows, above: number): PaymentId[];
  /**
   * Adds rows; one that is there already counts once. Returns the payment of each row that is new.
   *
   * @throws LedgerConflictError when the same log is there with other contents, or its transaction in another block
   */
  add(found: FoundRows): PaymentId[];
}

/** One row as its table has it, position first; amounts as decimal text. */
interface TableRow {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly blockNumber: number;
  readonly paymentId: PaymentId;
  readonly amounts: readonly string[];
}

interface LedgerTable {
  paymentsAbove(blockNumber: number): PaymentId[];
  removeRange(above: number, upTo: number): void;
  removeTransaction(transactionHash: string, above: number): PaymentId[];
  add(row: TableRow): boolean;
}

export function createLedgerRows(database: DatabaseSync): LedgerRows {
  const deposits = prepareTable(database, 'deposits', ['units']);
  const releases = prepareTable(database, 'releases', ['to_merchant_units', 'fee_units']);
  const tables = [deposits, releases];

  return {
    paymentsAbove: (blockNumber) => new Set(tables.flatMap((table) => table.paymentsAbove(blockNumber))),
    removeRange(above, upTo) {
      for (const table of tables) table.removeRange(above, upTo);
    },
    removeMoved(found, above) {
      const rows = [...found.deposits, ...found.releases];
      const hashes = [...new Set(rows.map((row) => row.transactionHash))];
      return hashes.flatMap((hash) => tables.flatMap((table) => table.removeTransaction(hash, above)));
    },
    add(found) {
      const added: PaymentId[] = [];
      for (const deposit of found.deposits) {
        const row = { ...deposit, amounts: [deposit.units.toString()] };
        if (deposits.add(row)) added.push(row.paymentId);
      }
      for (const release of found.releases) {
        const row = {
          ...release,
          amounts: [release.toMerchantUnits.toString(), release.feeUnits.toString()],
        };
        if (releases.add(row)) added.push(row.paymentId);
      }
      return added;
    },
  };
}

function prepareTable(database: DatabaseSync, table: string, amountColumns: readonly string[]): LedgerTable {
  const columns = ['transaction_hash', 'log_index', 'block_number', 'payment_id', ...amountColumns];
  // Not DISTINCT: for that SQLite would walk along the index on the payment, and so along all rows there ever were.
  const selectAbove = database.prepare(`SELECT payment_id FROM ${table} WHERE block_number > ?`);
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

  return {
    paymentsAbove: (blockNumber) => selectAbove.all(blockNumber).map((row) => row.payment_id as PaymentId),
    removeRange: (above, upTo) => void removeRange.run(above, upTo),
    removeTransaction: (transactionHash, above) =>
      removeTransaction.all(transactionHash, above).map((row) => row.payment_id as PaymentId),
    add({ transactionHash, logIndex, blockNumber, paymentId, amounts }) {
      const elsewhere = selectElsewhere.get(transactionHash, blockNumber);
      if (elsewhere !== undefined) {
        throw elsewhereError(transactionHash, elsewhere.block_number as number, blockNumber);
      }
      const values = [transactionHash, logIndex, blockNumber, paymentId, ...amounts];
      if (insert.run(...values).changes === 1) return true;
      if (selectSame.get(...values) !== undefined) return false;
      throw contentsError(transactionHash, logIndex);
    },
  };
}
