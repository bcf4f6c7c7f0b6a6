import type { NumberedEvent } from './payment-events.ts';

export interface EventPage {
  readonly events: readonly NumberedEvent[];
  /** The number of the account's newest event, 0 before the first. */
  readonly newest: number;
  /** The lowest number after which every event is still kept: that of the last one that was deleted, or 0. */
  readonly oldestAfter: number;
}

/**
 * The events of the accounts' payments. A change of a payment adds an event in its own transaction, without a number:
 * transactions commit in another order than they begin, and a reader must never miss an event that commits late with a
 * lower number. `numberEvents` numbers what is committed, one process at a time.
 */
export interface EventStore {
  /** Numbers committed events in the order in which they were added; returns how many. */
  numberEvents(limit: number): Promise<number>;
  /** Events with a higher number, in their order. */
  listEvents(accountId: string, after: number, limit: number): Promise<EventPage>;
  /** Deletes numbered events of before this time; returns how many. */
  deleteEvents(beforeMs: number, limit: number): Promise<number>;
}
