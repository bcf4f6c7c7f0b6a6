import type { Client } from './client.ts';
import { ApiError, CardCheckoutError } from './errors.ts';
import { waitFor } from './reconcile.ts';
import type { MerchantEvent } from './wire.ts';

const POLL_MS = 5_000;
/** Pause in milliseconds after an error without `Retry-After`. */
const ERROR_PAUSE_MS = 10_000;

/** Store for the number of the last processed event, such as a database row. */
export interface EventCursor<Transaction = void> {
  /** Returns the number of the last processed event; 0 before the first. */
  read(): Promise<number> | number;
  /**
   * Opens a transaction, changes the stored number from `previous` to `number`, and runs `work` in the same
   * transaction. Both are committed together or not at all. Returns false, without running `work`, if another number
   * was stored.
   */
  advance(
    previous: number,
    number: number,
    work: (transaction: Transaction) => Promise<void> | void,
  ): Promise<boolean>;
  /** Sets the stored number after a gap of deleted events. */
  skipTo(number: number): Promise<void> | void;
}

export interface FollowEventsOptions<Transaction> {
  readonly client: Pick<Client, 'events'>;
  readonly cursor: EventCursor<Transaction>;
  /**
   * Processes an event. Its writes to the transaction take effect exactly once. After an error, the event is retried
   * before any later one.
   */
  readonly onEvent: (transaction: Transaction, event: MerchantEvent) => Promise<void> | void;
  /**
   * Called if events after `after` were deleted because they are older than 30 days. Read all open orders, as
   * `reconcile` does. Afterwards, the loop continues. If absent, a gap throws.
   */
  readonly onGap?: (after: number) => Promise<void> | void;
  readonly onError?: (error: unknown) => void;
  /** Signal that ends the loop after the current event. */
  readonly signal?: AbortSignal;
  /** Pause in milliseconds if there are no newer events. Default: 5,000. */
  readonly pollMs?: number;
  /** Waits until the time has passed or the signal aborts; for tests. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * Processes the account's events in order, each exactly once, until the signal aborts. Needs no public URL. After a
 * crash, continues after the last committed event.
 *
 * @throws EventGapError if unprocessed events were deleted and `onGap` is absent; other errors go to `onError`
 */
export async function followEvents<Transaction>(options: FollowEventsOptions<Transaction>): Promise<void> {
  const { signal, onError = () => {}, pollMs = POLL_MS, wait = waitFor } = options;
  const isOver = () => signal?.aborted === true;
  while (!isOver()) {
    let pauseMs = pollMs;
    try {
      if (await processPage(options, isOver)) continue;
    } catch (error) {
      if (error instanceof EventGapError) throw error;
      onError(error);
      const askedMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
      pauseMs = Math.max(askedMs, ERROR_PAUSE_MS);
    }
    if (!isOver()) await wait(pauseMs, signal);
  }
}

/** Error thrown if unprocessed events were deleted and `onGap` is absent. */
export class EventGapError extends CardCheckoutError {
  override readonly name = 'EventGapError';
}

/** Processes the next page. Resolves to whether more events may be waiting. */
async function processPage<Transaction>(
  { client, cursor, onEvent, onGap }: FollowEventsOptions<Transaction>,
  isOver: () => boolean,
): Promise<boolean> {
  const after = await cursor.read();
  const page = await client.events.list({ after }).catch(nullIfExpired);
  if (page === null) {
    if (onGap === undefined) throw new EventGapError(`events after ${after} no longer exist`);
    const oldest = await client.events.list();
    await onGap(after);
    const [first] = oldest.events;
    await cursor.skipTo(first === undefined ? oldest.next_after : first.number - 1);
    return true;
  }
  let previous = after;
  for (const event of page.events) {
    if (isOver()) return false;
    const isNext = await cursor.advance(previous, event.number, (transaction) => onEvent(transaction, event));
    // Another process has processed the event, so this one continues from the stored position.
    if (!isNext) return true;
    previous = event.number;
  }
  return page.has_more;
}

function nullIfExpired(error: unknown): null {
  if (error instanceof ApiError && error.code === 'cursor_expired') return null;
  throw error;
}
