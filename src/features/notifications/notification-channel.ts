import { invalidField } from '../../payment/errors.ts';
import type { PaymentEventType } from '../../payment/payment-events.ts';

export const notificationEvents = {
  paid: 'Paid',
  partially_paid: 'Partially paid',
  late_money: 'Late deposit',
  daily_sum: 'Daily summary',
} as const;
export type NotificationEvent = keyof typeof notificationEvents;
export type PaymentNotification = Exclude<NotificationEvent, 'daily_sum'>;

/** Payment events that notify members. `late_money` includes only events after a cancellation or expiry. */
export const notifiedTypes = {
  paid: 'payment.paid',
  partially_paid: 'payment.partially_paid',
  late_money: 'payment.attention_required',
} as const satisfies Record<PaymentNotification, PaymentEventType>;

export const unsentChannel = {
  hourStartMs: 0,
  sentInHour: 0,
  failuresInARow: 0,
  /** `member`, or the failure that paused the channel; null if the channel is active. */
  pausedReason: null as string | null,
  lastSentAtMs: null as number | null,
};

/** Channel through which a member is notified of events in an account. Removed with the membership. */
export interface NotificationChannel extends Readonly<typeof unsentChannel> {
  readonly id: string;
  readonly accountId: string;
  readonly userId: string;
  readonly kind: ChannelKind;
  /** Fields of the target as JSON, sealed for this channel's id. */
  readonly sealedTarget: string;
  /** Last characters of the target, shown to distinguish channels. */
  readonly hint: string;
  readonly events: readonly NotificationEvent[];
  readonly createdAtMs: number;
  /** Number of the last event processed; the largest safe integer for a channel with only the daily summary. */
  readonly readThrough: number;
  readonly dailyDueAtMs: number | null;
  /** Time before which no message is sent. Each claim increases this time, so that only one process sends. */
  readonly notBeforeMs: number;
}

export const MAXIMUM_CHANNELS = 5;

interface ChannelField {
  readonly label: string;
  readonly hint: string;
  readonly form: RegExp;
  readonly problem: string;
}
type ChannelFields = Readonly<Record<string, ChannelField>>;

export const channelKinds = {
  mail: { name: 'Email', fields: {} },
  slack: {
    name: 'Slack',
    fields: {
      slack_url: {
        label: 'Webhook URL',
        hint: 'In Slack: the app’s “Incoming Webhooks” page. Everyone who knows the URL can post.',
        form: /^https:\/\/hooks\.slack\.com\/services\/T[A-Z0-9]{1,20}\/B[A-Z0-9]{1,20}\/[A-Za-z0-9]{16,64}$/,
        problem: 'must begin with https://hooks.slack.com/services/ and have three parts after it',
      },
    },
  },
  discord: {
    name: 'Discord',
    fields: {
      discord_url: {
        label: 'Webhook URL',
        hint: 'In Discord: the channel’s settings, “Integrations”, “Webhooks”, “Copy Webhook URL”.',
        form: /^https:\/\/(?:discord|discordapp)\.com\/api\/(?:v\d{1,2}\/)?webhooks\/\d{15,20}\/[\w-]{40,100}$/,
        problem: 'must begin with https://discord.com/api/webhooks/ and have an id and a token after it',
      },
    },
  },
  telegram: {
    name: 'Telegram',
    fields: {
      telegram_token: {
        label: 'Bot token',
        hint: 'From @BotFather, such as 123456789:AA…',
        form: /^\d{6,12}:[\w-]{30,50}$/,
        problem: 'must be digits, a colon and 30 to 50 letters, digits, - or _',
      },
      telegram_chat: {
        label: 'Chat ID',
        hint: 'A number, negative for groups, or the @name of a channel. Write to the bot or add it first.',
        form: /^(?:-?[1-9]\d{0,15}|@[A-Za-z]\w{3,31})$/,
        problem: 'must be a number such as -1001234567890, or a name such as @orders',
      },
    },
  },
} as const satisfies Record<string, { name: string; fields: ChannelFields }>;
export type ChannelKind = keyof typeof channelKinds;

export type ChannelTarget = Readonly<Record<string, string>>;

export function isChannelKind(text: string): text is ChannelKind {
  return Object.hasOwn(channelKinds, text);
}

export function isNotificationEvent(text: string): text is NotificationEvent {
  return Object.hasOwn(notificationEvents, text);
}

/** Parses a field of a channel's target. Throws `invalid_request` with the field's name. */
export function parseChannelField(name: string, { form, problem }: ChannelField, typed: string): string {
  const text = typed.trim();
  if (!form.test(text)) throw invalidField(name, problem);
  return text;
}

export function hintOf(target: ChannelTarget): string {
  const last = Object.values(target).at(-1);
  return last === undefined ? '' : `…${last.slice(-4)}`;
}
