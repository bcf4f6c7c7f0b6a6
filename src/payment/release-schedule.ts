import type { Payment } from './payment.ts';

/** Minimum surplus that is released without a request, so that tiny deposits cannot drain the relayer's gas. */
export const MINIMUM_SURPLUS_UNITS = 100_000n;

/** Returns whether money held at the deposit address may be released now. */
export function mayRelease(payment: Payment, heldUnits: bigint): boolean {
  switch (payment.status) {
    case 'unpaid':
      return payment.forwardStatus !== 'pending'; // Underpaid: further deposits may still add up.
    case 'paid':
      return (
        payment.forwardStatus !== 'completed' ||
        heldUnits >= MINIMUM_SURPLUS_UNITS ||
        payment.releaseRequested
      );
    case 'canceled':
      return payment.releaseRequested;
  }
}

/** Delays after the first, second, … consecutive failed attempt. The last delay repeats. */
const delaysMs = [30_000, 120_000, 600_000, 3_600_000] as const;

/** Delay after a simulation found an empty address, so that the watcher can observe another release or a reorg. */
export const RETRY_AFTER_EMPTY_MS = 5_000;

/** Delay after a batch was abandoned before it was mined. It is short, because the payments did not cause this. */
export const RETRY_AFTER_ABANDONED_MS = 10_000;

/** Maximum delay of a payment without a failed attempt. A longer delay means that the clock was set back. */
export const LONGEST_FIRST_DELAY_MS = 60_000;

export const LONGEST_DELAY_MS = delaysMs[3];

/** Returns the delay after this many (at least one) consecutive failed attempts. */
export function retryDelayMs(tries: number): number {
  return delaysMs[Math.min(tries, delaysMs.length) - 1] as number;
}

/** Returns whether a wait is over. A start in the future also ends the wait, because the clock was set back. */
export function isOver(sinceMs: number, waitMs: number, nowMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= waitMs;
}
