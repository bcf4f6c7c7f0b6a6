import type { ChannelTarget } from '../../src/features/notifications/notification-channel.ts';
import { createNotificationSender } from '../../src/features/notifications/notification-sender.ts';
import type { Mailer } from '../../src/mail/mail.ts';
import { createTestCertificateAuthority } from './certificates.ts';
import {
  type RecordedRequest,
  type RecordingTlsServer,
  startRecordingTlsServer,
} from './recording-tls-server.ts';

/**
 * Slack, Discord and Telegram as one strict receiver, which refuses what their documentation does not allow:
 *
 * - Slack, incoming webhooks and Block Kit's reference of the section block: JSON with `text` or `blocks`, at most 50
 *   blocks; text of a section at most 3,000 characters; plain text alone has `emoji`, mrkdwn alone `verbatim`. Answers
 *   `ok`, or a word as text, such as `invalid_payload`. 429 with `Retry-After` in seconds.
 * - Discord, "Execute Webhook": JSON, `content` at most 2,000 characters, `allowed_mentions.parse` a list of kinds, `flags`
 *   only SUPPRESS_EMBEDS (4) and SUPPRESS_NOTIFICATIONS (4096). Answers 204 without `wait`, or a JSON error. 429 with
 *   `Retry-After`.
 * - Telegram, Bot API, "Making requests" and `sendMessage`: a POST of JSON to `/bot<token>/sendMessage`; `text` of 1 to
 *   4,096 characters, `entities` inside the text, in UTF-16 units. Answers `{"ok":true,"result":…}`, or `ok: false` with a
 *   description. 429 with `parameters.retry_after`.
 */

type Json = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const targets = {
  slack: { slack_url: 'https://hooks.slack.com/services/T00000001/B00000002/aaaaaaaaaaaaaaaaaaaaSLCK' },
  discord: { discord_url: `https://discord.com/api/webhooks/123456789012345678/${'d'.repeat(64)}DISC` },
  telegram: { telegram_token: `123456789:${'t'.repeat(35)}`, telegram_chat: '-1001234567890' },
} as const satisfies Record<string, ChannelTarget>;
export type ChatKind = keyof typeof targets;

const hosts: Readonly<Record<string, ChatKind>> = {
  'hooks.slack.com': 'slack',
  'discord.com': 'discord',
  'discordapp.com': 'discord',
  'api.telegram.org': 'telegram',
};

/** A public address, which `connectTo` leads to the receiver on loopback. */
const PUBLIC_ADDRESS = '93.184.216.34';

/** One receiver for the three, with a certificate for their hosts. */
export async function startChatReceiver() {
  const authority = await createTestCertificateAuthority();
  const messages: { readonly kind: ChatKind; readonly body: Json }[] = [];
  /** Answers that come before any other, of a kind. */
  const planned = new Map<ChatKind, Answer[]>();
  const silent = new Set<ChatKind>();
  let resolvedTo: string = PUBLIC_ADDRESS;
  const certificate = await authority.issue({ names: Object.keys(hosts) });
  const server: RecordingTlsServer = await startRecordingTlsServer(certificate, ({ request, socket }) => {
    const kind = hosts[headerOf(request, 'host') ?? ''];
    if (kind === undefined) throw new Error(`no such host: ${request.head.join('\n')}`);
    if (silent.has(kind)) return;
    const answer = planned.get(kind)?.shift() ?? answerTo(kind, request);
    if (answer.status === 200 || answer.status === 204)
      messages.push({ kind, body: JSON.parse(request.body) });
    const head = Object.entries({
      'Content-Length': String(Buffer.byteLength(answer.body)),
      ...answer.headers,
    });
    socket.end(
      `HTTP/1.1 ${answer.status} Status\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${answer.body}`,
    );
  });
  return {
    messages,
    requests: server.requests,
    silent,
    plan: (kind: ChatKind, ...answers: Answer[]) => planned.set(kind, answers),
    resolveTo: (address: string) => {
      resolvedTo = address;
    },
    /** Sends as the service does, with its hosts on loopback. */
    senderWith: (mailer: Mailer | null) =>
      createNotificationSender(
        {
          resolver: {
            resolveFresh: async () => ({ addresses: [resolvedTo] }),
          },
          ownAddresses: () => new Set<string>(),
          ca: authority.caPem,
          connectTo: () => ({ address: '127.0.0.1', port: server.port }),
        },
        mailer,
      ),
    close: () => server.close(),
  };
}

function headerOf({ head }: RecordedRequest, name: string): string | undefined {
  const line = head.find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}

function answerTo(kind: ChatKind, request: RecordedRequest): Answer {
  const { refuse, check, accepted } = receivers[kind];
  const [line = ''] = request.head;
  if (!/^application\/json(?:; ?charset=utf-8)?$/i.test(headerOf(request, 'content-type') ?? ''))
    return refuse('a content type that is not JSON');
  let body: Json;
  try {
    body = JSON.parse(request.body);
  } catch {
    return refuse('a body that is not JSON');
  }
  const problem = check(line, body);
  return problem === null ? accepted : refuse(problem);
}

interface Receiver {
  /** What is wrong with a request; null where nothing is. */
  readonly check: (line: string, body: Json) => string | null;
  readonly accepted: Answer;
  readonly refuse: (problem: string) => Answer;
}

const receivers: Readonly<Record<ChatKind, Receiver>> = {
  slack: {
    check(line, body) {
      if (line !== `POST ${new URL(targets.slack.slack_url).pathname} HTTP/1.1`) return 'no_service';
      const known = ['text', 'blocks', 'attachments', 'thread_ts', 'mrkdwn', 'unfurl_links', 'unfurl_media'];
      const { text, blocks = [], unfurl_links: links = true, unfurl_media: media = true } = body;
      if (unknownIn(body, known) || !Array.isArray(blocks) || blocks.length > 50) return 'invalid_payload';
      if (typeof links !== 'boolean' || typeof media !== 'boolean') return 'invalid_payload';
      if (text === undefined && blocks.length === 0) return 'no_text';
      if (text !== undefined && (typeof text !== 'string' || text === '')) return 'no_text';
      return blocks.every(isSection) ? null : 'invalid_blocks';
    },
    accepted: { status: 200, body: 'ok', headers: { 'Content-Type': 'text/html' } },
    refuse: (problem) => ({ status: problem === 'no_service' ? 404 : 400, body: problem }),
  },
  discord: {
    check(line, body) {
      if (line !== `POST ${new URL(targets.discord.discord_url).pathname} HTTP/1.1`) return 'Unknown Webhook';
      const known = 'content username avatar_url tts embeds allowed_mentions components flags'.split(' ');
      const { content, allowed_mentions: mentions, flags = 0 } = body;
      if (unknownIn(body, known)) return 'Unknown field';
      if (typeof content !== 'string' || content === '') return 'Cannot send an empty message';
      if ([...content].length > 2_000) return 'Must be 2000 or fewer in length.';
      if (typeof flags !== 'number' || (flags & ~(4 | 4096)) !== 0) return 'Invalid flags';
      const { parse, ...rest } = (mentions ?? {}) as { parse?: unknown };
      if (
        mentions !== undefined &&
        (!Array.isArray(parse) || unknownIn(rest, ['roles', 'users', 'replied_user']))
      )
        return 'Invalid allowed mentions';
      return null;
    },
    accepted: { status: 204, body: '' },
    refuse: (message) =>
      message === 'Unknown Webhook'
        ? { status: 404, body: JSON.stringify({ message, code: 10015 }) }
        : {
            status: 400,
            body: JSON.stringify({ message: 'Invalid Form Body', code: 50035, errors: message }),
          },
  },
  telegram: {
    check(line, body) {
      if (line !== `POST /bot${targets.telegram.telegram_token}/sendMessage HTTP/1.1`) return 'Unauthorized';
      const known = 'chat_id text parse_mode entities link_preview_options disable_notification'.split(' ');
      if (unknownIn(body, known)) return 'Bad Request: unknown parameter';
      const { chat_id: chat, text, entities = [], link_preview_options: preview = {} } = body;
      if (!Number.isSafeInteger(chat) && !/^@\w{4,32}$/.test(String(chat)))
        return 'Bad Request: chat not found';
      if (typeof text !== 'string' || text === '') return 'Bad Request: message text is empty';
      if (text.length > 4_096) return 'Bad Request: message is too long';
      if (typeof preview !== 'object' || unknownIn(preview as Json, ['is_disabled', 'url']))
        return 'Bad Request: link preview options';
      const isInside = ({ type, offset, length, ...rest }: Json) =>
        type === 'code' &&
        unknownIn(rest, []) === false &&
        Number(offset) >= 0 &&
        Number(length) > 0 &&
        Number(offset) + Number(length) <= text.length;
      return (entities as Json[]).every(isInside) ? null : 'Bad Request: entity outside of the text';
    },
    accepted: { status: 200, body: JSON.stringify({ ok: true, result: { message_id: 1 } }) },
    refuse: (description) => {
      const status = description === 'Unauthorized' ? 401 : 400;
      return { status, body: JSON.stringify({ ok: false, error_code: status, description }) };
    },
  },
};

function unknownIn(body: Json, known: readonly string[]): boolean {
  return Object.keys(body).some((name) => !known.includes(name));
}

function isSection(block: unknown): boolean {
  const { type, text, ...rest } = block as Json;
  const { type: kind, text: content, emoji, verbatim, ...more } = (text ?? {}) as Json;
  const isOwn = kind === 'plain_text' ? verbatim === undefined : kind === 'mrkdwn' && emoji === undefined;
  const isBounded = typeof content === 'string' && content.length >= 1 && content.length <= 3_000;
  return type === 'section' && isOwn && isBounded && !unknownIn({ ...rest, ...more }, []);
}
