import { setTimeout as delay } from 'node:timers/promises';

/** Between two steps everything that has arrived is answered. */
const STEP_MS = 100;

/**
 * Waits for `noticeMs` in which somebody could be told. A process that stands still for a while (a disk that takes a
 * second for a commit, a machine with too much to do) would otherwise wake to find its notice over, and close with the
 * questions unread whose answers would have been the notice: a standstill costs one step.
 */
export async function giveNotice(
  noticeMs: number,
  wait: (waitMs: number) => Promise<unknown> = delay,
): Promise<void> {
  for (let leftMs = noticeMs; leftMs > 0; leftMs -= STEP_MS) await wait(Math.min(leftMs, STEP_MS));
}
