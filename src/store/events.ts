import type { EventStore } from '../payment/event-store.ts';
import { lock, run, runForOne, type Script, type Scripts } from './scripts.ts';
import { eventTable, unnumberedEventTable } from './tables.ts';

const EVENT_LOCK = 'events';

export function createEventStore({ read, write }: Scripts, nowMs: () => number): EventStore {
  return {
    numberEvents: write((limit) => numberEvents(limit, nowMs())),
    listEvents: read(function* (accountId, after, limit) {
      const events = yield* eventTable.select`
        WHERE account_id = ${accountId} AND number > ${after} ORDER BY number LIMIT ${limit}`;
      const numbers = yield* runForOne<{ newest: number; deletedThrough: number }>`
        SELECT newest, deleted_through AS "deletedThrough" FROM event_numbers WHERE account_id = ${accountId}`;
      return {
        events,
        newest: Number(numbers?.newest ?? 0),
        oldestAfter: Number(numbers?.deletedThrough ?? 0),
      };
    }),
    deleteEvents: write((beforeMs, limit) => deleteEvents(beforeMs, limit)),
  };
}

/** Numbers events by the time in ms or the last number plus one, so that no number is reused after a restore. */
function* numberEvents(limit: number, nowMs: number): Script<number> {
  yield* lock(EVENT_LOCK);
  const waiting = yield* unnumberedEventTable.select`ORDER BY "row" LIMIT ${limit}`;
  const numbers = new Map<string, number>();
  for (const { row, ...event } of waiting) {
    const { accountId } = event;
    const last = numbers.get(accountId) ?? (yield* newestNumber(accountId));
    const number = Math.max(last + 1, nowMs);
    numbers.set(accountId, number);
    yield* eventTable.insert({ ...event, number });
    // Deletes single rows instead of a range, which might contain a row that committed after the read.
    yield* run`DELETE FROM unnumbered_events WHERE "row" = ${row}`;
  }
  for (const [accountId, number] of numbers) {
    yield* run`INSERT INTO event_numbers (account_id, newest) VALUES (${accountId}, ${number})
       ON CONFLICT (account_id) DO UPDATE SET newest = excluded.newest`;
  }
  return waiting.length;
}

/** Returns the highest event number of the account, even if that event is deleted; 0 before the first event. */
export function* newestNumber(accountId: string): Script<number> {
  const row = yield* runForOne<{ newest: number }>`
    SELECT newest FROM event_numbers WHERE account_id = ${accountId}`;
  return Number(row?.newest ?? 0);
}

function* deleteEvents(beforeMs: number, limit: number): Script<number> {
  yield* lock(EVENT_LOCK);
  const old = yield* run`
    SELECT account_id AS "accountId", number FROM events WHERE at_ms < ${beforeMs} ORDER BY at_ms
    LIMIT ${limit}`;
  // Deletes by number, because an event may have an earlier time than its predecessor if the clock was set back.
  const through = new Map<string, number>();
  for (const row of old) {
    const accountId = String(row['accountId']);
    through.set(accountId, Math.max(through.get(accountId) ?? 0, Number(row['number'])));
  }
  for (const [accountId, number] of through) {
    yield* run`DELETE FROM events WHERE account_id = ${accountId} AND number <= ${number}`;
    yield* run`UPDATE event_numbers SET deleted_through = ${number} WHERE account_id = ${accountId}`;
  }
  return old.length;
}
