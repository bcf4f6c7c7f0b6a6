import type { ChannelKind, ChannelTarget, NotificationChannel, NotificationOutcome } from './notification.ts';
import type { NotificationMessage, PaymentNews } from './notification-message.ts';

/** The channels of members, and what they are to be notified of. */
export interface NotificationStore {
  /** False where the user is no member of the account, or has the maximum of channels in it. */
  addChannel(channel: NotificationChannel): Promise<boolean>;
  /** A member's channels, the oldest first. */
  listChannels(accountId: string, userId: string): Promise<readonly NotificationChannel[]>;
  /** Writes what changes of a channel, unless it was claimed, changed or removed since it was read as `before`. */
  updateChannel(before: NotificationChannel, after: NotificationChannel): Promise<boolean>;
  removeChannel(channel: Pick<NotificationChannel, 'id'>): Promise<boolean>;
  /** Active channels with something to look at, the longest waiting first. */
  listDueChannels(nowMs: number, except: readonly string[], limit: number): Promise<NotificationChannel[]>;
  /** What happened after `readThrough`, of some thousand events at most; names so many payments. */
  readNews(channel: NotificationChannel, named: number): Promise<PaymentNews>;
  /** Number of the account's newest event. */
  readNewestEvent(accountId: string): Promise<number>;
}

/** Sends one message, within a bounded time and at most once. */
export type SendNotification = (
  kind: ChannelKind,
  target: ChannelTarget,
  message: NotificationMessage,
  /** The member's own address. */
  email: string,
) => Promise<NotificationOutcome>;
