import type { DatabaseSync } from 'node:sqlite';
import {
  entriesAfter,
  isEntered,
  type JournalEntry,
  type JournalFacts,
  NO_MOVEMENTS,
  netEntries,
} from '../../domain/journal.ts';
import type { PaymentId } from '../../domain/payment-id.ts';

/** The journal. Synchronous, inside a read or a transaction. */
export interface Journal {
  /** Inside a transaction only: the one writer of the file makes it one chain. */
  append(entries: readonly JournalFacts[]): void;
  /** Without rescues that are in the book already; of everything else the rows say whether it is new. */
  fresh(entries: readonly JournalFacts[]): JournalFacts[];
  /** What was rescued above a block and not taken back. */
  rescuedAbove(blockNumber: number): JournalFacts[];
  list(after: number, limit: number): JournalEntry[];
  listOf(id: PaymentId): JournalEntry[];
}

type JournalRow = Omit<JournalEntry, 'units'> & { readonly units: string };

const columns = `number, previous_hash AS "previousHash", hash, recorded_at_ms AS "recordedAtMs", kind,
  payment_id AS "paymentId", units, token, transaction_hash AS "transactionHash", log_index AS "logIndex",
  block_number AS "blockNumber"`;

export function createJournal(database: DatabaseSync, nowMs: () => number): Journal {
  const selectHead = database.prepare('SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1');
  const select = database.prepare(`SELECT ${columns} FROM journal WHERE number > ? ORDER BY number LIMIT ?`);
  const selectOf = database.prepare(`SELECT ${columns} FROM journal WHERE payment_id = ? ORDER BY number`);
  const selectRescued = database.prepare(
    `SELECT ${columns} FROM journal WHERE kind = 'rescued' AND block_number > ? ORDER BY number`,
  );
  const insert = database.prepare(
    `INSERT INTO journal (number, previous_hash, hash, recorded_at_ms, kind, payment_id, units, token,
       transaction_hash, log_index, block_number) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const listOf = (id: PaymentId) => (selectOf.all(id) as unknown as JournalRow[]).map(entryOfRow);

  return {
    fresh: (entries) =>
      entries.filter((entry) => entry.kind !== 'rescued' || !isEntered(listOf(entry.paymentId), entry)),
    rescuedAbove: (blockNumber) =>
      netEntries((selectRescued.all(blockNumber) as unknown as JournalRow[]).map(entryOfRow)),
    append(entries) {
      if (entries.length === 0) return;
      const head = (selectHead.get() as JournalEntry | undefined) ?? NO_MOVEMENTS;
      for (const entry of entriesAfter(head, entries, nowMs())) {
        insert.run(
          entry.number,
          entry.previousHash,
          entry.hash,
          entry.recordedAtMs,
          entry.kind,
          entry.paymentId,
          entry.units.toString(),
          entry.token,
          entry.transactionHash,
          entry.logIndex,
          entry.blockNumber,
        );
      }
    },
    list: (after, limit) => (select.all(after, limit) as unknown as JournalRow[]).map(entryOfRow),
    listOf,
  };
}

function entryOfRow(row: JournalRow): JournalEntry {
  return { ...row, units: BigInt(row.units) };
}
