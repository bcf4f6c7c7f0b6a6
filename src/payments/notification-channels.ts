import { randomBytes } from 'node:crypto';
import type { Account } from '../domain/account.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import {
  type ChannelKind,
  type ChannelTarget,
  hintOf,
  MAXIMUM_CHANNELS,
  type NotificationChannel,
  type NotificationEvent,
} from '../domain/notification.ts';
import type { Stores } from '../domain/ports/stores.ts';
import { type Notifier, nextDailyMs } from './send-notifications.ts';

/** Dependencies of a member's own channels. */
interface ChannelsContext extends Pick<Stores, 'notifications'> {
  readonly notifier: Notifier;
  readonly nowMs: () => number;
}

interface NewChannel {
  readonly kind: ChannelKind;
  readonly target: ChannelTarget;
  readonly events: readonly NotificationEvent[];
}

/** Adds a channel of a member. What happened before is not sent to it. Throws where the member has the maximum. */
export async function addChannel(
  context: ChannelsContext,
  account: Pick<Account, 'id' | 'timeZone'>,
  userId: string,
  { kind, target, events }: NewChannel,
): Promise<NotificationChannel> {
  const id = `ntf_${randomBytes(10).toString('hex')}`;
  const channel: NotificationChannel = {
    id,
    accountId: account.id,
    userId,
    kind,
    sealedTarget: kind === 'mail' ? null : context.notifier.box.seal(JSON.stringify(target), id),
    hint: hintOf(target),
    events,
    createdAtMs: context.nowMs(),
    ...(await startOf(context, account, events)),
    hourStartMs: 0,
    sentInHour: 0,
    failuresInARow: 0,
    pausedReason: null,
    lastSentAtMs: null,
  };
  if (!(await context.notifications.addChannel(channel)))
    throw invalidField(
      'No channel was added:',
      `you have ${MAXIMUM_CHANNELS}, which is the maximum. Delete one first.`,
    );
  return channel;
}

/** From when on a channel is notified that is new, or active again. */
async function startOf(
  { notifications, nowMs }: ChannelsContext,
  { id, timeZone }: Pick<Account, 'id' | 'timeZone'>,
  events: readonly NotificationEvent[],
) {
  const isOfPayments = events.some((event) => event !== 'daily_sum');
  return {
    readThrough: isOfPayments ? await notifications.readNewestEvent(id) : Number.MAX_SAFE_INTEGER,
    dailyDueAtMs: events.includes('daily_sum') ? nextDailyMs(nowMs(), timeZone) : null,
    notBeforeMs: nowMs(),
  };
}

/** A member's own channel. Throws `not_found` for any other. */
export async function findChannel(
  { notifications }: Pick<ChannelsContext, 'notifications'>,
  accountId: string,
  userId: string,
  id: string,
): Promise<NotificationChannel> {
  const channels = await notifications.listChannels(accountId, userId);
  const channel = channels.find((candidate) => candidate.id === id);
  if (channel === undefined) throw new ServiceError('not_found');
  return channel;
}

/** The worker may claim the channel at the same moment. */
const TRIES = 5;

/** Pauses a channel, or makes it active again: what happened meanwhile is not sent. */
export async function setPaused(
  context: ChannelsContext,
  account: Pick<Account, 'id' | 'timeZone'>,
  { userId, id }: Pick<NotificationChannel, 'userId' | 'id'>,
  isPaused: boolean,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const channel = await findChannel(context, account.id, userId, id);
    const start = await startOf(context, account, channel.events);
    // Higher than any claim of a message that is being sent, whose outcome then changes nothing.
    const notBeforeMs = Math.max(start.notBeforeMs, channel.notBeforeMs + 1);
    const after = isPaused
      ? { ...channel, notBeforeMs, pausedReason: 'member' }
      : { ...channel, ...start, notBeforeMs, failuresInARow: 0, pausedReason: null };
    if (await context.notifications.updateChannel(channel, after)) return;
  }
  throw new ServiceError('invalid_request', 'The channel is in use at this moment. Please try again.');
}
