import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { User } from '../../src/accounts/person.ts';
import type { Store } from '../../src/app/store/store.ts';
import type {
  ChannelKind,
  NotificationChannel,
  NotificationEvent,
} from '../../src/features/notifications/notification-channel.ts';
import { paymentMessage } from '../../src/features/notifications/notification-message.ts';
import {
  addChannel,
  type NotifyContext,
  notifyChannel,
  sendToChannel,
  setPaused,
} from '../../src/features/notifications/send-notifications.ts';
import { type Mailer, MailNotSentError } from '../../src/mail/mail.ts';
import { createSmtpMailer } from '../../src/mail/mailers.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { createSecretBox } from '../../src/platform/secret-box.ts';
import { newAccount, newPayment } from '../store/fixtures.ts';
import { giveMember } from '../store/people.ts';
import { type ChatKind, startChatReceiver, targets } from '../support/chat-receiver.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { createTestDatabase } from '../support/test-store.ts';

const SECRET = 'a secret key of the tests, long enough';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const chatKinds = Object.keys(targets) as ChatKind[];
const paymentEvents = ['paid', 'partially_paid', 'late_money'] as const;

let chat: Awaited<ReturnType<typeof startChatReceiver>>;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: Store;
let account: Account;
let user: User;
let nowMs: number;
let context: NotifyContext;
let outcomes: object[];

beforeAll(async () => {
  chat = await startChatReceiver();
});
afterAll(() => chat.close());

beforeEach(async () => {
  database = await createTestDatabase();
  store = await database.open();
  chat.messages.length = 0;
  nowMs = Date.now();
  outcomes = [];
  account = newAccount({ name: 'Tea & <shop>' });
  await store.accounts.createAccount(account);
  user = await giveMember(store, account.id, 'viewer');
  context = contextWith(null);
});
afterEach(async () => {
  await store.close();
  await database.remove();
});

function contextWith(mailer: Mailer | null): NotifyContext {
  return {
    ...store,
    notifier: {
      box: createSecretBox('notification channels', SECRET),
      send: chat.senderWith(mailer),
    },
    dashboardUrl: 'https://pay.example.com/dashboard',
    nowMs: () => nowMs,
    log: {
      info(fields) {
        const { channel: _channel, kind: _kind, ...outcome } = fields as Record<string, unknown>;
        outcomes.push(outcome);
      },
      error: (fields) => outcomes.push(fields),
    },
  };
}

function give(kind: ChannelKind, events: readonly NotificationEvent[] = paymentEvents) {
  const target = kind === 'mail' ? {} : targets[kind];
  return addChannel(context, account, user.id, { kind, target, events });
}

/** A payment that a change makes, with its events numbered. */
async function change(values: Partial<Payment> = {}, ...changes: Partial<Payment>[]): Promise<Payment> {
  const payment = newPayment(account.id, values);
  await store.payments.createPayment(payment, null);
  for (const each of changes) await store.payments.decidePayment(payment.id, () => ({ change: each }));
  while ((await store.events.numberEvents(200)) > 0);
  return payment;
}

const paid = { status: 'paid', forwardStatus: 'completed', receivedUnits: 11_000_000n } as const;
const pay = (values: Partial<Payment> = {}) => change(values, { ...paid, paidAtMs: nowMs });

/** One pass of the worker, so much later. */
async function pass(laterMs = 0): Promise<void> {
  nowMs += laterMs;
  const due = await store.notifications.listDueChannels(nowMs, [], 100);
  await Promise.all(due.map((channel) => notifyChannel(context, channel)));
}

async function channelOf(): Promise<NotificationChannel> {
  const [channel] = await store.notifications.listChannels(account.id, user.id);
  if (channel === undefined) throw new Error('there is no channel');
  return channel;
}

const textOfMessage = ({ body }: (typeof chat.messages)[number]) =>
  String(
    body['content'] ??
      (body['blocks'] as { text: { text: string } }[] | undefined)?.[0]?.text.text ??
      body['text'],
  );
const texts = () => chat.messages.map(textOfMessage);

describe('a notification', () => {
  it.each(chatKinds)('arrives at %s once, as the documentation of the channel says', async (kind) => {
    await give(kind);
    const { id } = await pay({ note: 'Order 7' });
    await pass();
    await pass(HOUR_MS);
    expect(chat.messages.map((message) => message.kind)).toEqual([kind]);
    const [text = ''] = texts();
    expect(text).toContain('Payment paid');
    expect(text).toContain('102.57 EUR, 11.000000 USDC received');
    expect(JSON.stringify(chat.messages)).toContain(`https://pay.example.com/dashboard/payments/${id}`);
    expect(outcomes).toEqual([]);
    expect(await channelOf()).toMatchObject({ failuresInARow: 0, lastSentAtMs: expect.any(Number) });
  });

  it('arrives by mail at the member’s own address, with a subject of ours', async () => {
    const server = await startSmtpServer();
    context = contextWith(createSmtpMailer({ url: server.url, from: 'pay@service.example' }));
    await give('mail');
    await pay({ note: 'x\r\nBcc: evil@example.com\r\n\r\nforged' });
    await pass();
    expect(server.mails.map(({ to }) => to)).toEqual([[user.email]]);
    const raw = server.mails[0]?.raw.replaceAll('=\r\n', '') ?? '';
    expect(raw).toMatch(/^Subject: Payment paid\r$/m);
    expect(raw).not.toMatch(/^Bcc:/m);
    expect(raw).toContain('x Bcc: evil@example.com forged');
    await server.close();
  });

  it('names what happened, and neither other events nor other accounts', async () => {
    await give('slack');
    await change({}, { amountMismatch: 'partially_paid', receivedUnits: 4_000_000n });
    await change({}, { status: 'canceled', forwardStatus: 'canceled' });
    const other = newAccount();
    await store.accounts.createAccount(other);
    const foreign = newPayment(other.id);
    await store.payments.createPayment(foreign, null);
    await store.payments.decidePayment(foreign.id, () => ({ change: paid }));
    while ((await store.events.numberEvents(200)) > 0);
    await pass();
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('Payment partially paid');
    expect(texts()[0]).toContain('4.000000 USDC received');
  });

  it('is not about what happened before the channel was added or while it was paused', async () => {
    await pay();
    const channel = await give('slack');
    await pass();
    await setPaused(context, account, channel, true);
    await pay();
    await pass(HOUR_MS);
    await setPaused(context, account, await channelOf(), false);
    await pass(HOUR_MS);
    expect(texts()).toEqual([]);
    await pay();
    await pass(HOUR_MS);
    expect(texts()).toHaveLength(1);
  });
});

describe('many events', () => {
  it('are one message, with sums, five of them by name, and the rest as a number', async () => {
    await give('telegram');
    for (let count = 0; count < 7; count++) await pay();
    await change({}, { amountMismatch: 'partially_paid' });
    await pass();
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('8 payments: 1 partially paid, 7 paid');
    expect(texts()[0]).toContain('and 3 more');
  });

  it('are 20 messages an hour at most, and what is beyond comes in one when the hour is over', async () => {
    await give('slack');
    for (let count = 0; count < 25; count++) {
      await pay();
      await pass(MINUTE_MS);
    }
    expect(texts()).toHaveLength(20);
    await pass(HOUR_MS - 26 * MINUTE_MS);
    expect(texts()).toHaveLength(20);
    await pass(2 * MINUTE_MS);
    expect(texts()).toHaveLength(21);
    expect(texts().at(-1)).toContain('5 payments: 5 paid');
  });
});

describe('the daily summary', () => {
  it('is that of the last day of the account’s zone, once a day, also of a day without payments', async () => {
    account = { ...account, timeZone: 'America/New_York' };
    await store.accounts.updateAccount(account.id, { timeZone: account.timeZone });
    nowMs = Date.parse('2026-11-20T12:00:00Z');
    await give('slack', ['daily_sum']);
    await pass();
    nowMs = Date.parse('2026-11-21T05:14:00Z');
    await pass();
    expect(texts()).toEqual([]);
    await pass(MINUTE_MS);
    await pass(12 * HOUR_MS);
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('Daily summary of 2026-11-20 (America/New_York)');
    expect(texts()[0]).toContain('No payment was paid.');
    await pass(3 * 24 * HOUR_MS);
    expect(texts()).toHaveLength(2);
    expect(texts()[1]).toContain('Daily summary of 2026-11-23');
  });

  it('adds up what was paid and received', async () => {
    nowMs = Date.now();
    await give('slack', ['daily_sum']);
    await pay();
    await pay({ currency: 'USD' });
    await pass(24 * HOUR_MS);
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('2 payments paid:');
    expect(texts()[0]).toContain('102.57 USD');
    expect(texts()[0]).toContain('Received 22.000000 USDC');
  });
});

describe('a channel that fails', () => {
  it.each([
    ['slack', { status: 404, body: 'no_service' }],
    ['discord', { status: 404, body: '{"message":"Unknown Webhook","code":10015}' }],
    ['telegram', { status: 401, body: '{"ok":false,"error_code":401,"description":"Unauthorized"}' }],
  ] as const)(
    'of %s is retried later each time, and paused with a reason after five failures',
    async (kind, answer) => {
      chat.plan(kind, answer, answer, answer, answer, answer);
      await give(kind);
      await pay();
      await pass();
      await pass(MINUTE_MS - 1);
      expect(outcomes).toHaveLength(1);
      await pass(1);
      expect(outcomes).toHaveLength(2);
      for (const laterMs of [4 * MINUTE_MS, 16 * MINUTE_MS, HOUR_MS, HOUR_MS, HOUR_MS]) await pass(laterMs);
      expect(outcomes).toHaveLength(5);
      expect((await channelOf()).pausedReason).toBe(`http_${answer.status}: ${answer.body}`);
      expect(texts()).toEqual([]);
    },
  );

  it('sends what it could not send, once it works again', async () => {
    chat.plan('slack', { status: 500, body: 'server_error' });
    await give('slack');
    await pay();
    await pass();
    await pay();
    await pass(MINUTE_MS);
    expect(texts()).toHaveLength(1);
    expect(texts()[0]).toContain('2 payments: 2 paid');
    expect((await channelOf()).failuresInARow).toBe(0);
  });

  it('delays no other', async () => {
    chat.silent.add('slack');
    await give('slack');
    await give('discord');
    await pay();
    const passing = pass();
    await expect.poll(() => chat.messages.map(({ kind }) => kind)).toEqual(['discord']);
    chat.silent.delete('slack');
    await passing;
    // Silence after the request: it may have arrived, and is not sent again.
    expect(outcomes).toEqual([{ result: 'unknown', reason: 'timeout' }]);
    await pass(HOUR_MS);
    expect(chat.messages).toHaveLength(1);
  });

  it.each([
    ['slack', { headers: { 'Retry-After': '30' }, body: 'rate_limited' }],
    [
      'discord',
      {
        headers: { 'Retry-After': '30' },
        body: '{"message":"You are being rate limited.","retry_after":29.5,"global":false}',
      },
    ],
    [
      'telegram',
      {
        body: '{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 30","parameters":{"retry_after":30}}',
      },
    ],
  ] as const)('with 429 at %s waits as long as it is told, which is no failure', async (kind, answer) => {
    chat.plan(kind, { status: 429, ...answer });
    await give(kind);
    await pay();
    await pass();
    await pass(29_999);
    expect(texts()).toEqual([]);
    await pass(1);
    expect(texts()).toHaveLength(1);
    expect((await channelOf()).sentInHour).toBe(1);
  });

  it('for want of a mail server is not paused', async () => {
    const down: Mailer = {
      send: async () => {
        throw new MailNotSentError('down');
      },
    };
    context = contextWith(down);
    await give('mail');
    await pay();
    for (let count = 0; count < 8; count++) await pass(HOUR_MS);
    expect(await channelOf()).toMatchObject({ failuresInARow: 0, pausedReason: null });
  });

  it('follows no redirect', async () => {
    chat.plan('slack', { status: 302, body: '', headers: { Location: 'https://evil.example/' } });
    await give('slack');
    await pay();
    const before = chat.requests.length;
    await pass();
    expect(chat.requests.length).toBe(before + 1);
    expect(outcomes).toEqual([{ result: 'unsent', reason: 'http_302' }]);
  });

  it('at a private address is sent nothing', async () => {
    chat.resolveTo('10.0.0.1');
    const channel = await give('slack');
    const before = chat.requests.length;
    const message = { title: 'x', lines: [], url: 'https://pay.example.com' };
    expect(await sendToChannel(context, channel, message)).toEqual({
      result: 'unsent',
      reason: 'blocked_address',
    });
    expect(chat.requests.length).toBe(before);
    chat.resolveTo('93.184.216.34');
  });
});

describe('what payers and merchants write', () => {
  const hostile =
    '<!channel> <@U123> @everyone @here [x](https://evil.example) **b** `c` https://evil.example </script> &amp; \u202e\n\n# H';

  it('is plain text at Slack', async () => {
    await give('slack');
    await pay({ note: hostile });
    await pass();
    const body = (chat.messages[0]?.body ?? {}) as {
      text: string;
      blocks: { text: { type: string; text: string } }[];
    };
    expect(body.text).toBe('Payment paid');
    expect(body.blocks.map(({ text }) => text.type)).toEqual(['plain_text', 'mrkdwn']);
    expect(body.blocks[1]?.text.text).toMatch(
      /^<https:\/\/pay\.example\.com\/dashboard\/payments\/[\w-]+\|Open the dashboard>$/,
    );
  });

  it('is escaped at Discord, where mentions are off', async () => {
    await give('discord');
    await pay({ note: hostile });
    await pass();
    const body = chat.messages[0]?.body as { content: string; allowed_mentions: object };
    expect(body.allowed_mentions).toEqual({ parse: [] });
    const note = body.content.split('\n').find((line) => line.startsWith('Paid:')) ?? '';
    const quoted = note.slice(note.indexOf('received: ') + 10);
    expect(quoted.replaceAll(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(/[!-/:-@[-`{-~]/);
    expect(quoted.replaceAll('\\', '')).toContain('<!channel> <@U123> @everyone');
  });

  it('is code at Telegram, in which nothing is a mention', async () => {
    await give('telegram');
    await pay({ note: hostile });
    await pass();
    const { text, entities, parse_mode } = (chat.messages[0]?.body ?? {}) as {
      text: string;
      entities: { offset: number; length: number }[];
      parse_mode?: string;
    };
    expect(parse_mode).toBeUndefined();
    const quoted = entities.map(({ offset, length }) => text.slice(offset, offset + length));
    expect(quoted[0]).toBe('Tea & <shop>');
    expect(quoted[1]).toMatch(/^<!channel> <@U123> @everyone .*…$/);
    const outside = entities.reduceRight(
      (rest, { offset, length }) => rest.slice(0, offset) + rest.slice(offset + length),
      text,
    );
    expect(outside).not.toContain('@');
  });

  it('names no email address of a customer', async () => {
    await give('slack');
    await pay({ email: 'anna@example.com', note: 'for anna@example.com' });
    await pay({ email: 'Anna@example.com', note: 'for ANNA@example.com, anna%40example.com' });
    await pass();
    expect(JSON.stringify(chat.messages)).not.toMatch(/anna/i);
    expect(JSON.stringify(chat.messages)).toContain('for …');
  });

  it('keeps every message within the limits of each channel', async () => {
    const channels = await Promise.all(chatKinds.map((kind) => give(kind)));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 8 }),
        async (written) => {
          const payments = written
            .slice(0, 5)
            .map((note) => newPayment(account.id, { note, amountCents: 1_000_000 }));
          const message = paymentMessage(
            {
              through: 1,
              counts: new Map([
                ['paid', 4_000],
                ['late_money', 1_000],
              ]),
              newest: payments.map((payment) => ({ event: 'partially_paid' as const, payment })),
            },
            { shop: written.join(''), dashboardUrl: 'https://pay.example.com/dashboard' },
          );
          for (const channel of channels)
            expect(await sendToChannel(context, channel, message)).toEqual({ result: 'sent' });
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('the target of a channel', () => {
  it('is sealed for its channel alone, and nowhere else in the row', async () => {
    const channel = await give('telegram');
    const row = JSON.stringify(await channelOf());
    expect(row).not.toContain(targets.telegram.telegram_token);
    expect(row).not.toContain(targets.telegram.telegram_chat);
    expect(channel.hint).toBe('…7890');
    const { box } = context.notifier;
    expect(JSON.parse(box.open(channel.sealedTarget, channel.id) ?? '')).toEqual(targets.telegram);
    expect(box.open(channel.sealedTarget, 'ntf_other')).toBeNull();
    expect(createSecretBox('second factor', SECRET).open(channel.sealedTarget, channel.id)).toBeNull();
  });

  it('is sealed anew with the current secret when it is used', async () => {
    await give('slack');
    await pay();
    const box = createSecretBox('notification channels', 'another secret key, long enough as well', [SECRET]);
    context = { ...context, notifier: { ...context.notifier, box } };
    await pass();
    expect(texts()).toHaveLength(1);
    expect(box.isCurrent((await channelOf()).sealedTarget)).toBe(true);
  });

  it('without its secret fails visibly, and sends nothing', async () => {
    await give('slack');
    await pay();
    const box = createSecretBox('notification channels', 'another secret key, long enough as well');
    context = { ...context, notifier: { ...context.notifier, box } };
    await pass();
    expect(outcomes).toEqual([{ result: 'unsent', reason: 'sealed_otherwise' }]);
  });
});
