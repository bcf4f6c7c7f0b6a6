import type { NumberedEvent } from './payment-events.ts';

export interface EventPage {
  readonly events: readonly NumberedEvent[];
  /** Number of the account's newest event; 0 before the first. */
  readonly newest: number;
  /** Number of the last deleted event, or 0. All later events are still stored. */
  readonly oldestAfter: number;
}

/**
 * Payment events. A change adds its events without numbers in the same transaction. `numberEvents` then
 * numbers committed events, in one process at a time, so that a reader never misses an event that commits late.
 */
export interface EventStore {
  /** Numbers at most `limit` committed events in order of insertion. Returns how many. */
  numberEvents(limit: number): Promise<number>;
  /** Returns events numbered above `after`, in order. */
  listEvents(accountId: string, after: number, limit: number): Promise<EventPage>;
  /** Deletes numbered events from before this time. Returns how many it found, at most `limit`. */
  deleteEvents(beforeMs: number, limit: number): Promise<number>;
}
