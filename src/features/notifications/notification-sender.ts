import { type Mailer, MailNotSentError } from '../../mail/mail.ts';
import { type AttemptOutcome, type DeliveryDependencies, deliverWebhook } from '../../webhooks/deliver.ts';
import type { ChannelKind, ChannelTarget, NotificationOutcome } from './notification.ts';
import type { MessageLine, NotificationMessage } from './notification-message.ts';
import type { SendNotification } from './notification-store.ts';

/**
 * Writes messages in the form of each channel and sends them: mail by the mail server, the others as one POST under the
 * rules of webhooks (`deliverWebhook`), to their own host alone.
 *
 * - Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 * - Discord: https://discord.com/developers/docs/resources/webhook#execute-webhook
 * - Telegram: https://core.telegram.org/bots/api#sendmessage
 */
export function createNotificationSender(
  dependencies: Omit<DeliveryDependencies, 'allowedHosts' | 'own'>,
  mailer: Mailer | null,
): SendNotification {
  // No host of the operator's list is exempt here: these three are public.
  const guard = { ...dependencies, allowedHosts: new Set<string>(), own: null };
  return async (kind, target, message, email) => {
    if (kind === 'mail') return sendMail(mailer, email, message);
    const { url, body } = requestOf(kind, target, message);
    return outcomeOf(await deliverWebhook(guard, { url, body: JSON.stringify(body), signature: null }));
  };
}

/** Where a message is sent, and its body. The form of the target fixes the host (`channelKinds`). */
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

/** Plain text blocks are neither formatted nor searched for mentions; the text is for previews, and escaped. */
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

/** `SUPPRESS_EMBEDS` of a message. */
const SUPPRESS_EMBEDS = 4;

function discordBody({ title, lines, url }: NotificationMessage) {
  const written = [title, ...lines.map((line) => textOf({ ...line, quoted: escapeMarkdown(line.quoted) }))];
  return {
    content: [...written, `<${url}>`].join('\n'),
    allowed_mentions: { parse: [] },
    flags: SUPPRESS_EMBEDS,
  };
}

/** A backslash before every ASCII punctuation mark: it then is neither markup nor a part of a mention or link. */
function escapeMarkdown(text: string | null): string | null {
  return text?.replaceAll(/[!-/:-@[-`{-~]/g, '\\$&') ?? null;
}

/** Without a parse mode nothing is markup. Inside a `code` entity nothing becomes a mention, link or command either. */
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
    // The mail server is away or busy, for every member alike.
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

/** Slack and Discord say it in a header, Telegram in the body. Milliseconds; a minute where neither says it. */
function retryAfterOf({ responseHeaders, responseExcerpt }: AttemptOutcome): number {
  const inBody = /"retry_after":(\d{1,6})/.exec(responseExcerpt)?.[1];
  const seconds = Number(responseHeaders['retry-after'] ?? inBody ?? Number.NaN);
  return seconds >= 0 ? Math.ceil(seconds * 1000) : 60_000;
}
