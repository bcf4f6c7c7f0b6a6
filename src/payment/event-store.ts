import type { NumberedEvent } from './payment-events.ts';

export interface EventPage {
  readonly events: readonly NumberedEvent[];
  /** Number of the account's newest event; 0 before the first. */
  readonly newest: number;
  /** Number of the last deleted event, or 0. All events after it are still stored. */
  readonly oldestAfter: number;
}

/**
 * Events of the accounts' payments. A change adds an unnumbered event in its own transaction, because a reader must
 * never miss an event that commits late. `numberEvents` numbers committed events, in one process at a time.
 */
export interface EventStore {
  /** Numbers committed events in order of insertion; returns how many. */
  numberEvents(limit: number): Promise<number>;
  /** Events with numbers above `after`, in order. */
  listEvents(accountId: string, after: number, limit: number): Promise<EventPage>;
  /** Deletes numbered events before this time; returns how many. */
  deleteEvents(beforeMs: number, limit: number): Promise<number>;
}
