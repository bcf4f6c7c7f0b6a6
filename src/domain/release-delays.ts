/** How long the sender waits after the first, second, … try in a row that released nothing; the last one repeats. */
const delaysMs = [30_000, 120_000, 600_000, 3_600_000] as const;

/** At the time of simulation nothing lay at the address: the watcher will see why. */
export const RETRY_AFTER_EMPTY_MS = 5_000;

/** A batch was given up before it was mined: no fault of its payments. */
export const RETRY_AFTER_ABANDONED_MS = 10_000;

/** No due time of a payment without a failed try is further ahead: one that is was written before the clock went back. */
export const LONGEST_FIRST_DELAY_MS = 10_000;

/** The same for any payment. */
export const LONGEST_DELAY_MS = delaysMs[3];

/** The wait after this many tries in a row that released nothing, at least one. */
export function retryDelayMs(tries: number): number {
  return delaysMs[Math.min(tries, delaysMs.length) - 1] as number;
}
