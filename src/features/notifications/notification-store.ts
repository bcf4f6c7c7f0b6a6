import type { NotificationOutcome } from './channel-pauses.ts';
import type { ChannelKind, ChannelTarget, NotificationChannel } from './notification-channel.ts';
import type { NotificationMessage, PaymentNews } from './notification-message.ts';

export interface NotificationStore {
  /** Resolves to false if the user is not a member of the account or has the maximum number of channels. */
  addChannel(channel: NotificationChannel): Promise<boolean>;
  listChannels(accountId: string, userId: string): Promise<readonly NotificationChannel[]>;
  /** Updates a channel unless it was claimed, changed or removed since `before` was read. */
  updateChannel(before: NotificationChannel, after: NotificationChannel): Promise<boolean>;
  removeChannel(channel: Pick<NotificationChannel, 'id'>): Promise<boolean>;
  /** Active channels that are due, longest waiting first. */
  listDueChannels(nowMs: number, except: readonly string[], limit: number): Promise<NotificationChannel[]>;
  /** Events after `readThrough`, a few thousand at most; lists at most `named` payments. */
  readNews(channel: NotificationChannel, named: number): Promise<PaymentNews>;
  readNewestEvent(accountId: string): Promise<number>;
}

/** Sends one message, within a bounded time and at most once. */
export type SendNotification = (
  kind: ChannelKind,
  target: ChannelTarget,
  message: NotificationMessage,
  email: string,
) => Promise<NotificationOutcome>;
