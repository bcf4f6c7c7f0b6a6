import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** Number of events kept for listeners that reconnect. */
const KEPT_EVENTS = 100;
/** Maximum wait for the next event before a listener must poll again. */
const PATIENCE_MS = 20_000;
const POLL_INTERVAL_MS = 100;

export interface SentEvent {
  readonly url: string;
  /** Text whose exact bytes are signed. */
  readonly body: string;
  readonly signature: string;
  /** Standard Webhooks headers; empty if the account has no signing secret. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly atMs: number;
}

export interface FeedPage {
  readonly cursor: string;
  readonly events: readonly SentEvent[];
  /** Number of events that were dropped before this listener could read them. */
  readonly missed: number;
}

export type EventFeed = ReturnType<typeof createEventFeed>;

/**
 * Keeps copies of the latest events in memory for `listen`. Takes no part in the delivery, so that a listener never
 * causes a repeated, delayed or redirected event.
 */
export function createEventFeed(nowMs: () => number, patienceMs = PATIENCE_MS) {
  const start = randomUUID();
  const kept: SentEvent[] = [];
  let recorded = 0;
  let isStopped = false;

  function positionOf(cursor: string): number {
    const [of, position] = cursor.split(' ');
    return of === start && /^\d{1,15}$/.test(position ?? '') ? Number(position) : 0;
  }

  return {
    /** Keeps a copy of an event. Never throws, because the event's delivery is about to begin. */
    record({ url, body, signature, headers = {} }: Omit<SentEvent, 'atMs'>): void {
      kept.push({ url, body, signature, headers, atMs: nowMs() });
      recorded++;
      if (kept.length > KEPT_EVENTS) kept.shift();
    },
    /**
     * Reads the events after the cursor as soon as there are some, or none after a timeout. Without a cursor, starts
     * now. With a cursor from before a restart, starts with the first event.
     */
    async read(cursor: string | null): Promise<FeedPage> {
      if (cursor === null) return { cursor: `${start} ${recorded}`, events: [], missed: 0 };
      const from = Math.min(positionOf(cursor), recorded);
      const deadlineMs = performance.now() + patienceMs;
      while (recorded === from && !isStopped && performance.now() < deadlineMs) {
        // Unreferenced, so that a waiting listener does not keep the process alive.
        await delay(POLL_INTERVAL_MS, undefined, { ref: false });
      }
      const missed = Math.max(0, recorded - kept.length - from);
      const events = kept.slice(kept.length - (recorded - from - missed));
      return { cursor: `${start} ${recorded}`, events, missed };
    },
    /** Makes all waiting listeners return. */
    stop(): void {
      isStopped = true;
    },
  };
}
