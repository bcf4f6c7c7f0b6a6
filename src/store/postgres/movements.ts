import {
  entriesAfter,
  isEntered,
  type Movement,
  type MovementFacts,
  type MovementHead,
  NO_MOVEMENTS,
  netMovements,
} from '../../domain/journal.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import { lockLedger } from './ledger-rows.ts';
import type { Connection, Database } from './open-database.ts';
import { type Column, namesOf, statement, unnest, valuesByColumn } from './statements.ts';

/** The book of movements. */

const columns: readonly Column[] = [
  ['number', 'bigint'],
  ['previous_hash', 'text'],
  ['hash', 'text'],
  ['recorded_at_ms', 'bigint'],
  ['kind', 'text'],
  ['payment_id', 'text'],
  ['units', 'numeric'],
  ['token', 'text'],
  ['transaction_hash', 'text'],
  ['log_index', 'integer'],
  ['block_number', 'bigint'],
];
const selected = `number, previous_hash AS "previousHash", hash, recorded_at_ms AS "recordedAtMs", kind,
  payment_id AS "paymentId", units::text, token, transaction_hash AS "transactionHash", log_index AS "logIndex",
  block_number AS "blockNumber"`;
const selectHead = statement('SELECT number, hash FROM movements ORDER BY number DESC LIMIT 1');
const select = statement(`SELECT ${selected} FROM movements WHERE number > $1 ORDER BY number LIMIT $2`);
const selectOf = statement(`SELECT ${selected} FROM movements WHERE payment_id = $1 ORDER BY number`);
const selectRescued = statement(
  `SELECT ${selected} FROM movements WHERE kind = 'rescued' AND block_number > $1 ORDER BY number`,
);
const insert = statement(
  `INSERT INTO movements (${namesOf(columns)}) SELECT ${namesOf(columns)} FROM ${unnest('appended', columns)}`,
);

type MovementRow = Omit<Movement, 'units'> & { readonly units: string };

/** With the ledger locked, which makes it one chain: whoever else appends waits, and then reads the new end. */
export async function appendMovements(
  connection: Connection,
  movements: readonly MovementFacts[],
  recordedAtMs: number,
): Promise<void> {
  if (movements.length === 0) return;
  const [head = NO_MOVEMENTS] = await connection.query<MovementHead>(selectHead);
  const rows = entriesAfter(head, movements, recordedAtMs).map((entry) => [
    ...[entry.number, entry.previousHash, entry.hash, entry.recordedAtMs, entry.kind, entry.paymentId],
    ...[entry.units, entry.token, entry.transactionHash, entry.logIndex, entry.blockNumber],
  ]);
  await connection.execute(insert, valuesByColumn(columns, rows));
}

export async function listMovements(
  connection: Connection,
  after: number,
  limit: number,
): Promise<Movement[]> {
  return (await connection.query<MovementRow>(select, [after, limit])).map(movementOfRow);
}

export async function listMovementsOf(connection: Connection, id: PaymentId): Promise<Movement[]> {
  return (await connection.query<MovementRow>(selectOf, [id])).map(movementOfRow);
}

/** Without rescues that are in the book already; of everything else the rows say whether it is new. */
export async function freshMovements(
  connection: Connection,
  movements: readonly MovementFacts[],
): Promise<MovementFacts[]> {
  const fresh: MovementFacts[] = [];
  for (const movement of movements) {
    const isKnown =
      movement.kind === 'rescued' &&
      isEntered(await listMovementsOf(connection, movement.paymentId), movement);
    if (!isKnown) fresh.push(movement);
  }
  return fresh;
}

/** What was rescued above a block and not taken back. */
export async function rescuedAbove(connection: Connection, blockNumber: number): Promise<MovementFacts[]> {
  const rows = await connection.query<MovementRow>(selectRescued, [blockNumber]);
  return netMovements(rows.map(movementOfRow));
}

function movementOfRow(row: MovementRow): Movement {
  return { ...row, units: BigInt(row.units) };
}

/** How many movements of the time before the book are entered together. */
const OPENING_ENTRIES = 1_000;

const declareFinal = statement(`
  DECLARE final_movements NO SCROLL CURSOR FOR
  SELECT * FROM (
    SELECT 'deposited' AS kind, payment_id AS "paymentId", units::text, transaction_hash AS "transactionHash",
      log_index AS "logIndex", block_number AS "blockNumber" FROM deposits
    UNION ALL
    SELECT 'forwarded', payment_id, to_merchant_units::text, transaction_hash, log_index, block_number FROM releases
    UNION ALL
    SELECT 'fee', payment_id, fee_units::text, transaction_hash, log_index, block_number FROM releases
  ) AS movement
  WHERE units <> '0' AND "blockNumber" <= (SELECT max(number) FROM checkpoints)
  ORDER BY "blockNumber", "logIndex", kind DESC`);
const fetchFinal = statement(`FETCH ${OPENING_ENTRIES} FROM final_movements`);

/** Enters what became final before there was a book: once, when a store of an earlier version is opened. */
export async function openMovementBook(database: Database, nowMs: () => number): Promise<void> {
  if ((await listMovements(database, 0, 1)).length > 0) return;
  await database.transaction(async (connection) => {
    await lockLedger(connection);
    if ((await listMovements(connection, 0, 1)).length > 0) return;
    await connection.execute(declareFinal);
    for (;;) {
      const rows = await connection.query<MovementRow>(fetchFinal);
      if (rows.length === 0) return;
      const movements = rows.map((row) => ({ ...row, units: BigInt(row.units), token: null }));
      await appendMovements(connection, movements, nowMs());
    }
  });
}
