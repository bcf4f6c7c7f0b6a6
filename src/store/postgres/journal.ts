import {
  entriesAfter,
  isEntered,
  type JournalEntry,
  type JournalFacts,
  type JournalHead,
  NO_MOVEMENTS,
  netEntries,
} from '../../domain/journal.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { Connection } from './open-database.ts';
import { namesOf, statement, type TypedColumn, unnest, valuesByColumn } from './statements.ts';

/** The journal. */

const columns: readonly TypedColumn[] = [
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
const selectHead = statement('SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1');
const select = statement(`SELECT ${selected} FROM journal WHERE number > $1 ORDER BY number LIMIT $2`);
const selectOf = statement(`SELECT ${selected} FROM journal WHERE payment_id = $1 ORDER BY number`);
const selectRescued = statement(
  `SELECT ${selected} FROM journal WHERE kind = 'rescued' AND block_number > $1 ORDER BY number`,
);
const insert = statement(
  `INSERT INTO journal (${namesOf(columns)}) SELECT ${namesOf(columns)} FROM ${unnest('appended', columns)}`,
);

type JournalRow = Omit<JournalEntry, 'units'> & { readonly units: string };

/** With the observations locked, which makes it one chain: whoever else appends waits, and then reads the new end. */
export async function appendEntries(
  connection: Connection,
  entries: readonly JournalFacts[],
  recordedAtMs: number,
): Promise<void> {
  if (entries.length === 0) return;
  const [head = NO_MOVEMENTS] = await connection.query<JournalHead>(selectHead);
  const rows = entriesAfter(head, entries, recordedAtMs).map((entry) => [
    entry.number,
    entry.previousHash,
    entry.hash,
    entry.recordedAtMs,
    entry.kind,
    entry.paymentId,
    entry.units,
    entry.token,
    entry.transactionHash,
    entry.logIndex,
    entry.blockNumber,
  ]);
  await connection.execute(insert, valuesByColumn(columns, rows));
}

export async function listEntries(
  connection: Connection,
  after: number,
  limit: number,
): Promise<JournalEntry[]> {
  return (await connection.query<JournalRow>(select, [after, limit])).map(entryOfRow);
}

export async function listEntriesOf(connection: Connection, id: PaymentId): Promise<JournalEntry[]> {
  return (await connection.query<JournalRow>(selectOf, [id])).map(entryOfRow);
}

/** Without rescues that are in the book already; of everything else the rows say whether it is new. */
export async function newEntries(
  connection: Connection,
  entries: readonly JournalFacts[],
): Promise<JournalFacts[]> {
  const fresh: JournalFacts[] = [];
  for (const entry of entries) {
    const isKnown =
      entry.kind === 'rescued' && isEntered(await listEntriesOf(connection, entry.paymentId), entry);
    if (!isKnown) fresh.push(entry);
  }
  return fresh;
}

/** What was rescued above a block and not taken back. */
export async function rescuedAbove(connection: Connection, blockNumber: number): Promise<JournalFacts[]> {
  const rows = await connection.query<JournalRow>(selectRescued, [blockNumber]);
  return netEntries(rows.map(entryOfRow));
}

function entryOfRow(row: JournalRow): JournalEntry {
  return { ...row, units: BigInt(row.units) };
}
