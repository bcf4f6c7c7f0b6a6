import type { DatabaseSync } from 'node:sqlite';
import {
  entriesAfter,
  isEntered,
  type Movement,
  type MovementFacts,
  NO_MOVEMENTS,
  netMovements,
} from '../../domain/journal.ts';
import type { PaymentId } from '../../domain/payment-id.ts';

/** The book of movements. Synchronous, inside a read or a transaction. */
export interface MovementBook {
  /** Inside a transaction only: the one writer of the file makes it one chain. */
  append(movements: readonly MovementFacts[]): void;
  /** Without rescues that are in the book already; of everything else the rows say whether it is new. */
  fresh(movements: readonly MovementFacts[]): MovementFacts[];
  /** What was rescued above a block and not taken back. */
  rescuedAbove(blockNumber: number): MovementFacts[];
  list(after: number, limit: number): Movement[];
  listOf(id: PaymentId): Movement[];
}

type MovementRow = Omit<Movement, 'units'> & { readonly units: string };

const columns = `number, previous_hash AS "previousHash", hash, recorded_at_ms AS "recordedAtMs", kind,
  payment_id AS "paymentId", units, token, transaction_hash AS "transactionHash", log_index AS "logIndex",
  block_number AS "blockNumber"`;

/** How many movements of the time before the book are entered together. */
const OPENING_ENTRIES = 1_000;

export function createMovementBook(database: DatabaseSync, nowMs: () => number): MovementBook {
  const selectHead = database.prepare('SELECT number, hash FROM movements ORDER BY number DESC LIMIT 1');
  const select = database.prepare(
    `SELECT ${columns} FROM movements WHERE number > ? ORDER BY number LIMIT ?`,
  );
  const selectOf = database.prepare(`SELECT ${columns} FROM movements WHERE payment_id = ? ORDER BY number`);
  const selectRescued = database.prepare(
    `SELECT ${columns} FROM movements WHERE kind = 'rescued' AND block_number > ? ORDER BY number`,
  );
  const insert = database.prepare(
    `INSERT INTO movements (number, previous_hash, hash, recorded_at_ms, kind, payment_id, units, token,
       transaction_hash, log_index, block_number) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const listOf = (id: PaymentId) => (selectOf.all(id) as unknown as MovementRow[]).map(movementOfRow);

  return {
    fresh: (movements) =>
      movements.filter(
        (movement) => movement.kind !== 'rescued' || !isEntered(listOf(movement.paymentId), movement),
      ),
    rescuedAbove: (blockNumber) =>
      netMovements((selectRescued.all(blockNumber) as unknown as MovementRow[]).map(movementOfRow)),
    append(movements) {
      if (movements.length === 0) return;
      const head = (selectHead.get() as Movement | undefined) ?? NO_MOVEMENTS;
      for (const entry of entriesAfter(head, movements, nowMs())) {
        insert.run(
          ...[entry.number, entry.previousHash, entry.hash, entry.recordedAtMs, entry.kind, entry.paymentId],
          ...[entry.units.toString(), entry.token, entry.transactionHash, entry.logIndex, entry.blockNumber],
        );
      }
    },
    list: (after, limit) => (select.all(after, limit) as unknown as MovementRow[]).map(movementOfRow),
    listOf,
  };
}

function movementOfRow(row: MovementRow): Movement {
  return { ...row, units: BigInt(row.units) };
}

const finalMovementsSql = `
  SELECT 'deposited' AS kind, payment_id AS "paymentId", units, transaction_hash AS "transactionHash",
    log_index AS "logIndex", block_number AS "blockNumber" FROM deposits
  UNION ALL SELECT 'forwarded', payment_id, to_merchant_units, transaction_hash, log_index, block_number FROM releases
  UNION ALL SELECT 'fee', payment_id, fee_units, transaction_hash, log_index, block_number FROM releases`;

/** Enters what became final before there was a book: once, when a store of an earlier version is opened. */
export function openMovementBook(database: DatabaseSync, nowMs: () => number): void {
  const newest = database.prepare('SELECT max(number) AS number FROM checkpoints').get()?.['number'];
  const isBegun = database.prepare('SELECT 1 FROM movements LIMIT 1').get() !== undefined;
  if (isBegun || newest === null || newest === undefined) return;
  const book = createMovementBook(database, nowMs);
  const all = database.prepare(
    `SELECT * FROM (${finalMovementsSql}) WHERE "blockNumber" <= ? AND units <> '0' ORDER BY "blockNumber", "logIndex", kind DESC`,
  );
  database.exec('BEGIN IMMEDIATE');
  try {
    let waiting: MovementFacts[] = [];
    for (const row of all.iterate(newest)) {
      waiting.push({
        ...(row as unknown as MovementRow),
        units: BigInt(row['units'] as string),
        token: null,
      });
      if (waiting.length < OPENING_ENTRIES) continue;
      book.append(waiting);
      waiting = [];
    }
    book.append(waiting);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
