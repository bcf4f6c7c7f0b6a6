import { randomBytes } from 'node:crypto';
import type { Account } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import {
  type ChannelTarget,
  hintOf,
  MAXIMUM_CHANNELS,
  type NotificationChannel,
  unsentChannel,
} from '../domain/notification.ts';
import type { Stores } from '../domain/ports/stores.ts';
import { type Notifier, nextDailyMs } from './send-notifications.ts';

interface ChannelsContext extends Pick<Stores, 'notifications'> {
  readonly notifier: Notifier;
  readonly nowMs: () => number;
}

/** Adds a channel of a member. What happened before is not sent to it. Throws where the member has the maximum. */
export async function addChannel(
  context: ChannelsContext,
  account: Account,
  userId: string,
  { target, ...added }: Pick<NotificationChannel, 'kind' | 'events'> & { readonly target: ChannelTarget },
): Promise<NotificationChannel> {
  const id = `ntf_${randomBytes(10).toString('hex')}`;
  const channel: NotificationChannel = {
    id,
    accountId: account.id,
    userId,
    ...added,
    ...unsentChannel,
    sealedTarget: context.notifier.box.seal(JSON.stringify(target), id),
    hint: hintOf(target),
    createdAtMs: context.nowMs(),
    ...(await startOf(context, account, added.events)),
  };
  if (!(await context.notifications.addChannel(channel))) {
    const problem = `You have ${MAXIMUM_CHANNELS} channels, which is the maximum. Delete one first.`;
    throw new ServiceError('invalid_request', problem);
  }
  return channel;
}

/** From when on a channel is notified that is new, or active again. */
async function startOf(
  { notifications, nowMs }: ChannelsContext,
  { id, timeZone }: Account,
  events: NotificationChannel['events'],
) {
  const isOfPayments = events.some((event) => event !== 'daily_sum');
  return {
    readThrough: isOfPayments ? await notifications.readNewestEvent(id) : Number.MAX_SAFE_INTEGER,
    dailyDueAtMs: events.includes('daily_sum') ? nextDailyMs(nowMs(), timeZone) : null,
    notBeforeMs: nowMs(),
  };
}

/** Pauses a channel, or makes it active again: what happened meanwhile is not sent. */
export async function setPaused(
  context: ChannelsContext,
  account: Account,
  channel: NotificationChannel,
  isPaused: boolean,
): Promise<void> {
  const start = await startOf(context, account, channel.events);
  // Higher than the claim of a message that is being sent, whose outcome then changes nothing.
  const notBeforeMs = Math.max(start.notBeforeMs, channel.notBeforeMs + 1);
  const after = isPaused
    ? { ...channel, notBeforeMs, pausedReason: 'member' }
    : { ...channel, ...start, notBeforeMs, failuresInARow: 0, pausedReason: null };
  if (!(await context.notifications.updateChannel(channel, after)))
    throw new ServiceError(
      'invalid_request',
      'The channel sends a message at this moment. Please try again.',
    );
}
