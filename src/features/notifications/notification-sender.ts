import { type Mailer, MailNotSentError } from '../../mail/mail.ts';
import { type AttemptOutcome, type DeliveryDependencies, deliverWebhook } from '../../webhooks/deliver.ts';
import type { NotificationOutcome } from './channel-pauses.ts';
import type { ChannelKind, ChannelTarget } from './notification-channel.ts';
import type { MessageLine, NotificationMessage } from './notification-message.ts';
import type { SendNotification } from './send-notifications.ts';

/**
 * Creates a function that sends email through the mail server, and other messages as a POST to the channel's host.
 * Formats: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks,
 * https://discord.com/developers/docs/resources/webhook#execute-webhook, https://core.telegram.org/bots/api#sendmessage
 */
export function createNotificationSender(
  dependencies: Omit<DeliveryDependencies, 'allowedHosts' | 'own'>,
  mailer: Mailer | null,
): SendNotification {
  // Ignores the operator's exceptions for private hosts, because channel hosts are public.
  const guard = { ...dependencies, allowedHosts: new Set<string>(), own: null };
  return async (kind, target, message, email) => {
    if (kind === 'mail') return sendMail(mailer, email, message);
    const { url, body } = requestOf(kind, target, message);
    return outcomeOf(await deliverWebhook(guard, { url, body: JSON.stringify(body), signature: null }));
  };
}

/** Returns the URL and body of a request. Patterns in `channelKinds` ensure that the URL has the channel's host. */
function requestOf(kind: Exclude<ChannelKind, 'mail'>, target: ChannelTarget, message: NotificationMessage) {
  const { slack_url = '', discord_url = '', telegram_token, telegram_chat: chat = '' } = target;
  if (kind === 'slack') return { url: slack_url, body: slackBody(message) };
  if (kind === 'discord') return { url: discord_url, body: discordBody(message) };
  return {
    url: `https://api.telegram.org/bot${telegram_token}/sendMessage`,
    body: telegramBody(message, chat.startsWith('@') ? chat : Number(chat)),
  };
}

const textOf = ({ text, quoted }: MessageLine) => (quoted === null ? text : `${text}: ${quoted}`);

/** Returns a body with plain-text blocks, in which Slack ignores markup and mentions. Previews show only the title. */
function slackBody({ title, lines, url }: NotificationMessage) {
  const text = [title, ...lines.map(textOf)].join('\n');
  const link = `<${escapeSlack(url)}|Open the dashboard>`;
  return {
    text: escapeSlack(title),
    blocks: [
      { type: 'section', text: { type: 'plain_text', text, emoji: false } },
      { type: 'section', text: { type: 'mrkdwn', text: link, verbatim: true } },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const SUPPRESS_EMBEDS = 4;

function discordBody({ title, lines, url }: NotificationMessage) {
  const written = [title, ...lines.map((line) => textOf({ ...line, quoted: escapeMarkdown(line.quoted) }))];
  return {
    content: [...written, `<${url}>`].join('\n'),
    allowed_mentions: { parse: [] },
    flags: SUPPRESS_EMBEDS,
  };
}

/** Escapes all ASCII punctuation, to disable markup, mentions and links. */
function escapeMarkdown(text: string | null): string | null {
  return text?.replaceAll(/[!-/:-@[-`{-~]/g, '\\$&') ?? null;
}

/** Returns a body without a parse mode, to disable markup. `code` entities disable mentions, links and commands. */
function telegramBody({ title, lines, url }: NotificationMessage, chat: string | number) {
  let text = title;
  const entities: { type: 'code'; offset: number; length: number }[] = [];
  for (const line of lines) {
    const whole = textOf(line);
    const length = line.quoted?.length ?? 0;
    if (length > 0) entities.push({ type: 'code', offset: text.length + 1 + whole.length - length, length });
    text += `\n${whole}`;
  }
  const preview = { link_preview_options: { is_disabled: true } };
  return { chat_id: chat, text: `${text}\n${url}`, entities, ...preview };
}

async function sendMail(
  mailer: Mailer | null,
  to: string,
  { title, lines, url }: NotificationMessage,
): Promise<NotificationOutcome> {
  if (mailer === null) return { result: 'unsent', reason: 'mail_not_configured' };
  const text = `${[...lines.map(textOf), '', url].join('\n')}\n`;
  try {
    await mailer.send({ to, subject: title, text }, { isBackground: true });
    return { result: 'sent' };
  } catch (error) {
    // Does not count an outage of the mail server as a failure of the channel.
    if (error instanceof MailNotSentError) return { result: 'busy', retryAfterMs: 60_000 };
    return { result: 'unknown', reason: 'mail_failed' };
  }
}

const EXCERPT_CHARACTERS = 120;

function outcomeOf(attempt: AttemptOutcome): NotificationOutcome {
  const { outcome, reason, httpStatus, responseExcerpt } = attempt;
  if (outcome === 'delivered') return { result: 'sent' };
  if (httpStatus === 429) return { result: 'busy', retryAfterMs: retryAfterOf(attempt) };
  const excerpt = responseExcerpt.slice(0, EXCERPT_CHARACTERS);
  return {
    result: outcome === 'unknown' ? 'unknown' : 'unsent',
    reason: `${reason ?? outcome}${excerpt === '' ? '' : `: ${excerpt}`}`,
  };
}

/** Returns the retry delay in ms, by default a minute, from the header (Slack, Discord) or the body (Telegram). */
function retryAfterOf({ responseHeaders, responseExcerpt }: AttemptOutcome): number {
  const inBody = /"retry_after":(\d{1,6})/.exec(responseExcerpt)?.[1];
  const seconds = Number(responseHeaders['retry-after'] ?? inBody ?? Number.NaN);
  return seconds >= 0 ? Math.ceil(seconds * 1000) : 60_000;
}
