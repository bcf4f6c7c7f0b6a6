import type { Payment } from './payment.ts';

/** Minimum surplus released without a request, so that senders of single units cannot drain the relayer's gas. */
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

/** Delays after the first, second, … consecutive attempt without a release. The last delay repeats. */
const delaysMs = [30_000, 120_000, 600_000, 3_600_000] as const;

/** Delay after a simulation found an empty deposit address, so that the watcher can see why. */
export const RETRY_AFTER_EMPTY_MS = 5_000;

/** Delay after a batch was abandoned unmined. It is short, because the payments are not at fault. */
export const RETRY_AFTER_ABANDONED_MS = 10_000;

/** Maximum delay of a payment without a failed attempt. A longer one dates from before the clock was set back. */
export const LONGEST_FIRST_DELAY_MS = 60_000;

export const LONGEST_DELAY_MS = delaysMs[3];

/** Returns the delay after this many (at least one) consecutive attempts without a release. */
export function retryDelayMs(tries: number): number {
  return delaysMs[Math.min(tries, delaysMs.length) - 1] as number;
}

/** Returns whether a wait is over. A wait that starts in the future is, because the clock must have been set back. */
export function isOver(sinceMs: number, waitMs: number, nowMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= waitMs;
}
