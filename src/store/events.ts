import { paymentEventTypeOf } from '../domain/payment-events.ts';
import type { EventStore } from '../domain/ports/event-store.ts';
import { checkedLimit, hasRow, lock, run, runForOne, type Script, type Scripts } from './scripts.ts';
import { eventTable, unnumberedEventTable } from './tables.ts';

/** Lock of every process that numbers or deletes events. */
const EVENT_LOCK = 'events';

export function createEventStore({ read, write }: Scripts): EventStore {
  // Nearly always there is nothing to number or to delete: the read costs no commit.
  const hasUnnumbered = read(() => hasRow`SELECT 1 FROM unnumbered_events LIMIT 1`);
  const hasOld = read((beforeMs: number) => hasRow`SELECT 1 FROM events WHERE at_ms < ${beforeMs} LIMIT 1`);
  const number = write(numberEvents);
  const remove = write(deleteEvents);
  return {
    async numberEvents(limit) {
      checkedLimit(limit);
      return (await hasUnnumbered()) ? number(limit) : 0;
    },
    listEvents: read(function* (accountId, after, limit) {
      const events = yield* eventTable.select`
        WHERE account_id = ${accountId} AND number > ${after} ORDER BY number LIMIT ${checkedLimit(limit)}`;
      const oldest = yield* runForOne<{ number: number }>`
        SELECT number FROM events WHERE account_id = ${accountId} ORDER BY number LIMIT 1`;
      const newest = yield* newestNumber(accountId);
      return {
        events: events.map((event) => ({ ...event, type: paymentEventTypeOf(event.type) })),
        newest,
        oldestAfter: oldest === null ? newest : Number(oldest.number) - 1,
      };
    }),
    async deleteEvents(beforeMs, limit) {
      checkedLimit(limit);
      return (await hasOld(beforeMs)) ? remove(beforeMs, limit) : 0;
    },
  };
}

function* numberEvents(limit: number): Script<number> {
  yield* lock(EVENT_LOCK);
  const waiting = yield* unnumberedEventTable.select`ORDER BY "row" LIMIT ${limit}`;
  const numbers = new Map<string, number>();
  for (const { row, ...event } of waiting) {
    const { accountId } = event;
    const number = (numbers.get(accountId) ?? (yield* newestNumber(accountId))) + 1;
    numbers.set(accountId, number);
    yield* eventTable.insert({ ...event, number });
    // One by one: a row that committed late may lie between two that were read.
    yield* run`DELETE FROM unnumbered_events WHERE account_id = ${accountId} AND "row" = ${row}`;
  }
  for (const [accountId, number] of numbers) {
    yield* run`INSERT INTO event_numbers (account_id, newest) VALUES (${accountId}, ${number})
       ON CONFLICT (account_id) DO UPDATE SET newest = excluded.newest`;
  }
  return waiting.length;
}

/** Kept apart from the events, which are deleted one day. */
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
  // By number, so that no gap arises where a clock went back and a later event has an earlier time.
  const through = new Map<string, number>();
  for (const row of old) {
    const accountId = String(row['accountId']);
    through.set(accountId, Math.max(through.get(accountId) ?? 0, Number(row['number'])));
  }
  for (const [accountId, number] of through) {
    yield* run`DELETE FROM events WHERE account_id = ${accountId} AND number <= ${number}`;
  }
  return old.length;
}
