import { randomBytes } from 'node:crypto';
import type { Account } from '../../accounts/account.ts';
import type { AccountStore, PeopleStore } from '../../accounts/account-store.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { PaymentSearchStore } from '../../payment/payment-search-store.ts';
import type { SecretBox } from '../../platform/secret-box.ts';
import { lastDays } from '../../platform/time-zone.ts';
import { readStatistics } from '../../reports/read-statistics.ts';
import { afterMessage, countMessage, type NotificationOutcome } from './channel-pauses.ts';
import {
  type ChannelKind,
  type ChannelTarget,
  hintOf,
  MAXIMUM_CHANNELS,
  type NotificationChannel,
  unsentChannel,
} from './notification-channel.ts';
import {
  dailyMessage,
  NAMED_PAYMENTS,
  type NotificationMessage,
  type PaymentNews,
  paymentMessage,
} from './notification-message.ts';

export interface NotificationStore {
  /** Resolves to false if the user is not a member of the account, or has the maximum number of channels. */
  addChannel(channel: NotificationChannel): Promise<boolean>;
  listChannels(accountId: string, userId: string): Promise<readonly NotificationChannel[]>;
  /** Updates a channel. Resolves to false if it was claimed, paused, resumed or removed after `before` was read. */
  updateChannel(before: NotificationChannel, after: NotificationChannel): Promise<boolean>;
  removeChannel(channel: Pick<NotificationChannel, 'id'>): Promise<boolean>;
  /** Lists active channels that are due, longest wait first. */
  listDueChannels(nowMs: number, except: readonly string[], limit: number): Promise<NotificationChannel[]>;
  /** Reads the events after `readThrough`, at most a few thousand, and the newest `named` payments. */
  readNews(channel: NotificationChannel, named: number): Promise<PaymentNews>;
  readNewestEvent(accountId: string): Promise<number>;
}

/** Function that sends a message once, within a limited time, without retries. */
export type SendNotification = (
  kind: ChannelKind,
  target: ChannelTarget,
  message: NotificationMessage,
  email: string,
) => Promise<NotificationOutcome>;

export interface ChannelsContext {
  readonly notifications: NotificationStore;
  readonly notifier: Notifier;
  readonly nowMs: () => number;
}

/** Adds a channel for future events. Throws `invalid_request` if the member has the maximum number of channels. */
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

/** Pauses or resumes a channel. Skips events during the pause. Throws `invalid_request` if the channel has changed. */
export async function setPaused(
  context: ChannelsContext,
  account: Account,
  channel: NotificationChannel,
  isPaused: boolean,
): Promise<void> {
  const start = await startOf(context, account, channel.events);
  // Increases the time, so that the outcome of a message in flight cannot overwrite this change.
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

export interface Notifier {
  readonly box: SecretBox;
  readonly send: SendNotification;
}

export interface NotifyContext extends ChannelsContext {
  readonly accounts: Pick<AccountStore, 'findAccount'>;
  readonly people: Pick<PeopleStore, 'findUser'>;
  readonly search: Pick<PaymentSearchStore, 'listSlots' | 'listPaidCounts'>;
  readonly dashboardUrl: string;
  readonly log: Readonly<Record<'info' | 'error', (fields: object, text: string) => void>>;
}

const NOTIFICATION_INTERVAL_MS = 5_000;
/** Maximum number of messages in flight, each of which has a time limit. */
const OPEN_NOTIFICATIONS = 40;

/** Creates the task that sends messages to due channels concurrently. `drain` waits for messages in flight. */
export function createNotificationTask(context: NotifyContext) {
  const open = new Map<string, Promise<void>>();
  const send = async (channel: NotificationChannel) => {
    await notifyChannel(context, channel).catch((err: unknown) =>
      context.log.error({ err, channel: channel.id }, 'notification'),
    );
    open.delete(channel.id);
  };
  return {
    task: {
      name: 'notifications',
      intervalMs: NOTIFICATION_INTERVAL_MS,
      async run(): Promise<undefined> {
        const free = OPEN_NOTIFICATIONS - open.size;
        if (free === 0) return;
        const due = await context.notifications.listDueChannels(context.nowMs(), [...open.keys()], free);
        for (const channel of due) open.set(channel.id, send(channel));
      },
    },
    async drain() {
      await Promise.all(open.values());
    },
  };
}

/** Sends a message to a due channel. Claims the channel durably first, so that only one process sends. */
export async function notifyChannel(context: NotifyContext, channel: NotificationChannel): Promise<void> {
  const { notifications, log } = context;
  const nowMs = context.nowMs();
  const due = await composeDue(context, channel, nowMs);
  if (due === null) return;
  const { message, ...progress } = due;
  const moved = { ...channel, ...progress };
  const claimed = message === null ? { ...moved, notBeforeMs: nowMs + 1 } : countMessage(moved, nowMs);
  if (!(await notifications.updateChannel(channel, claimed)) || message === null) return;
  const outcome = await sendToChannel(context, claimed, message);
  if (outcome.result !== 'sent')
    log.info({ channel: channel.id, kind: channel.kind, ...outcome }, 'notification');
  const after = afterMessage(channel, claimed, outcome, context.nowMs());
  await notifications.updateChannel(claimed, resealed(context.notifier, after));
}

/** Composes the due message and the channel's progress after it; null if the account no longer exists. */
async function composeDue(context: NotifyContext, channel: NotificationChannel, nowMs: number) {
  const { readThrough, dailyDueAtMs } = channel;
  const account = await context.accounts.findAccount(channel.accountId);
  if (account === null) return null;
  const place = { shop: account.name, dashboardUrl: context.dashboardUrl };
  if (dailyDueAtMs !== null && dailyDueAtMs <= nowMs) {
    const { days } = await readStatistics(context.search, account, 2, nowMs);
    const [yesterday] = days;
    const nextMs = nextDailyMs(nowMs, account.timeZone);
    const message =
      yesterday === undefined ? null : dailyMessage({ ...yesterday, timeZone: account.timeZone }, place);
    return { message, readThrough, dailyDueAtMs: nextMs };
  }
  const news = await context.notifications.readNews(channel, NAMED_PAYMENTS);
  const message = news.counts.size === 0 ? null : paymentMessage(news, place);
  return { message, readThrough: news.through, dailyDueAtMs };
}

/** Delay of the daily summary, because statistics lag behind payments. */
const AFTER_MIDNIGHT_MS = 15 * 60_000;

function nextDailyMs(nowMs: number, timeZone: string): number {
  const [today] = lastDays(1, nowMs - AFTER_MIDNIGHT_MS, timeZone);
  return (today?.endMs ?? nowMs) + AFTER_MIDNIGHT_MS;
}

export async function sendToChannel(
  { notifier: { box, send }, people }: Pick<NotifyContext, 'notifier' | 'people'>,
  { id, userId, kind, sealedTarget }: NotificationChannel,
  message: NotificationMessage,
): Promise<NotificationOutcome> {
  const user = await people.findUser(userId);
  const target = box.open(sealedTarget, id);
  if (user === null || target === null) return { result: 'unsent', reason: 'sealed_otherwise' };
  return send(kind, JSON.parse(target), message, user.email);
}

/** Reseals the target with the current secret, so that earlier secrets can be retired. */
function resealed({ box }: Notifier, channel: NotificationChannel): NotificationChannel {
  const { id, sealedTarget } = channel;
  const target = box.isCurrent(sealedTarget) ? null : box.open(sealedTarget, id);
  return target === null ? channel : { ...channel, sealedTarget: box.seal(target, id) };
}
