import { setTimeout as delay } from 'node:timers/promises';

/** SQLite writes in the API's own thread, and a create may not wait for more than one portion. */
const PAUSE_MS = 50;

/** Lets others write between two portions of work that can wait; ends early when the signal says so. */
export async function pauseBetweenPortions(signal: AbortSignal, pauseMs = PAUSE_MS): Promise<void> {
  await delay(pauseMs, undefined, { signal }).catch(() => {});
}
