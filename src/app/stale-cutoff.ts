import type { Clock } from '../domain/ports/clock.ts';

/** However often it is asked, so many readings are kept for one wait. */
const READINGS_IN_A_WAIT = 100;

/**
 * Wall times before which something was left lying for so long: what the wall clock showed that long ago, by the clock
 * that never jumps, and never later than the wall time now less the wait. A wall clock that is put forward by an hour
 * therefore makes nothing look an hour old. Null until this process has watched for that long; ask regularly.
 */
export function createStaleCutoff({ nowMs, monotonicMs }: Clock, waitMs: number): () => number | null {
  const readings: { readonly wallMs: number; readonly takenAtMs: number }[] = [];
  return () => {
    const takenAtMs = monotonicMs();
    const wallMs = nowMs();
    const lastMs = readings.at(-1)?.takenAtMs ?? Number.NEGATIVE_INFINITY;
    if (takenAtMs - lastMs >= waitMs / READINGS_IN_A_WAIT) readings.push({ wallMs, takenAtMs });
    // The newest that is old enough comes first.
    while (readings[1] !== undefined && takenAtMs - readings[1].takenAtMs >= waitMs) readings.shift();
    const [oldest] = readings;
    if (oldest === undefined || takenAtMs - oldest.takenAtMs < waitMs) return null;
    return Math.min(oldest.wallMs, wallMs - waitMs);
  };
}
