import type { NotificationChannel } from './notification-channel.ts';

/** Maximum messages per channel and hour. A message after the hour summarizes further events. */
const MESSAGES_PER_HOUR = 20;
const HOUR_MS = 3_600_000;
/** Pause after each message. The strictest channel accepts 20 messages per minute. */
const PAUSE_MS = 15_000;

export function countMessage(channel: NotificationChannel, nowMs: number): NotificationChannel {
  const isNewHour = nowMs - channel.hourStartMs >= HOUR_MS;
  const hourStartMs = isNewHour ? nowMs : channel.hourStartMs;
  const sentInHour = isNewHour ? 1 : channel.sentInHour + 1;
  const notBeforeMs = sentInHour < MESSAGES_PER_HOUR ? nowMs + PAUSE_MS : hourStartMs + HOUR_MS;
  return { ...channel, hourStartMs, sentInHour, notBeforeMs };
}

const MAXIMUM_FAILURES = 5;
const FIRST_RETRY_MS = 60_000;
const MAXIMUM_RETRY_MS = HOUR_MS;

/** Outcome of a message. `unsent`: rejected. `unknown`: may have arrived. `busy`: not sent, not counted as failed. */
export type NotificationOutcome =
  | { readonly result: 'sent' }
  | { readonly result: 'unsent' | 'unknown'; readonly reason: string }
  | { readonly result: 'busy'; readonly retryAfterMs: number };

/** Returns the channel after a message. Unless the message may have arrived, restores the progress of `before`. */
export function afterMessage(
  before: NotificationChannel,
  claimed: NotificationChannel,
  outcome: NotificationOutcome,
  nowMs: number,
): NotificationChannel {
  if (outcome.result === 'sent') return { ...claimed, failuresInARow: 0, lastSentAtMs: nowMs };
  const { readThrough, dailyDueAtMs, hourStartMs, sentInHour } = before;
  const returned =
    outcome.result === 'unknown'
      ? claimed
      : { ...claimed, readThrough, dailyDueAtMs, hourStartMs, sentInHour };
  if (outcome.result === 'busy') {
    return { ...returned, notBeforeMs: nowMs + Math.min(Math.max(outcome.retryAfterMs, PAUSE_MS), HOUR_MS) };
  }
  const failuresInARow = before.failuresInARow + 1;
  const retryMs = Math.min(FIRST_RETRY_MS * 4 ** before.failuresInARow, MAXIMUM_RETRY_MS);
  const pausedReason = failuresInARow < MAXIMUM_FAILURES ? null : outcome.reason;
  const notBeforeMs = Math.max(claimed.notBeforeMs, nowMs + retryMs);
  return { ...returned, failuresInARow, pausedReason, notBeforeMs };
}
