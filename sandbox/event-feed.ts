import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** How many events are kept for listeners that come back a moment later. */
const KEPT_EVENTS = 100;
/** How long a listener waits for the next event before it asks again. */
const PATIENCE_MS = 20_000;
const POLL_INTERVAL_MS = 100;

/** An event as it was handed to its one delivery. */
export interface SentEvent {
  readonly url: string;
  /** Exactly what was signed. */
  readonly body: string;
  readonly signature: string;
  readonly atMs: number;
}

/** What happened since a listener asked last. */
export interface FeedPage {
  /** To ask with next time. */
  readonly cursor: string;
  readonly events: readonly SentEvent[];
  /** How many were forgotten before they could be shown. */
  readonly missed: number;
}

export type EventFeed = ReturnType<typeof createEventFeed>;

/**
 * Copies of the sandbox's events for `listen`: one of each event beside its delivery, in memory and bounded. It takes no part in the delivery: nothing is sent
 * again, or later, or elsewhere because of a listener.
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
    /** Keeps a copy; never fails, because a delivery is about to begin. */
    record({ url, body, signature }: Omit<SentEvent, 'atMs'>): void {
      kept.push({ url, body, signature, atMs: nowMs() });
      recorded++;
      if (kept.length > KEPT_EVENTS) kept.shift();
    },
    /**
     * What came after the cursor, as soon as there is something; empty after a while. Without a cursor it begins now; with
     * one of an earlier start, of which nothing is known, with the first event of this one.
     */
    async read(cursor: string | null): Promise<FeedPage> {
      if (cursor === null) return { cursor: `${start} ${recorded}`, events: [], missed: 0 };
      const from = Math.min(positionOf(cursor), recorded);
      const deadlineMs = performance.now() + patienceMs;
      while (recorded === from && !isStopped && performance.now() < deadlineMs) {
        // A listener keeps no process alive.
        await delay(POLL_INTERVAL_MS, undefined, { ref: false });
      }
      const missed = Math.max(0, recorded - kept.length - from);
      const events = kept.slice(kept.length - (recorded - from - missed));
      return { cursor: `${start} ${recorded}`, events, missed };
    },
    /** Lets waiting listeners go. */
    stop(): void {
      isStopped = true;
    },
  };
}
