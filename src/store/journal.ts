import {
  entriesAfter,
  isEntered,
  type JournalEntry,
  type JournalFacts,
  type JournalHead,
  NO_MOVEMENTS,
  netEntries,
} from '../domain/journal.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import { insertRows, runForOne, type Script, select } from './scripts.ts';
import { journalTable } from './tables.ts';

/** The journal, on any engine. */

/** Under the lock of the observations, which makes it one chain. */
export function* appendEntries(entries: readonly JournalFacts[], recordedAtMs: number): Script<void> {
  if (entries.length === 0) return;
  const head = yield* runForOne<JournalHead>`SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1`;
  const appended = entriesAfter(head ?? NO_MOVEMENTS, entries, recordedAtMs);
  yield* insertRows(journalTable, appended.map(journalTable.valuesOf));
}

export function listEntries(after: number, limit: number): Script<JournalEntry[]> {
  return select(journalTable)`WHERE number > ${after} ORDER BY number LIMIT ${limit}`;
}

export function listEntriesOf(id: PaymentId): Script<JournalEntry[]> {
  return select(journalTable)`WHERE payment_id = ${id} ORDER BY number`;
}

/** The entries in the payment token of several payments. */
export function listPaymentEntries(ids: readonly PaymentId[]): Script<JournalEntry[]> {
  return select(journalTable)`WHERE token IS NULL AND payment_id = ANY(${ids})`;
}

/** Without rescues that are in the journal already; of everything else the rows say whether it is new. */
export function* newEntries(entries: readonly JournalFacts[]): Script<JournalFacts[]> {
  const fresh: JournalFacts[] = [];
  for (const entry of entries) {
    if (entry.kind === 'rescued' && isEntered(yield* listEntriesOf(entry.paymentId), entry)) continue;
    fresh.push(entry);
  }
  return fresh;
}

/** What was rescued above a block and not taken back. */
export function* rescuedAbove(blockNumber: number): Script<JournalFacts[]> {
  return netEntries(
    yield* select(journalTable)`WHERE kind = 'rescued' AND block_number > ${blockNumber} ORDER BY number`,
  );
}
