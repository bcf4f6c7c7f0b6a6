import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { sendReceipts } from '../../src/features/receipts/send-receipts.ts';
import { type Mailer, MailNotSentError } from '../../src/mail/mail.ts';
import { createSmtpMailer } from '../../src/mail/mailers.ts';
import { languages } from '../../src/web/checkout-frame/languages.ts';
import { givePayment, NOW_MS, newSession, pay } from '../store/fixtures.ts';
import { freePorts } from '../support/free-ports.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let store: Store;
let server: Awaited<ReturnType<typeof startSmtpServer>>;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openSqliteStore({ file: join(folder, 'store.sqlite'), nowMs: () => NOW_MS });
  server = await startSmtpServer();
});
afterEach(async () => {
  await server.close();
  await store.close();
});

const failed: unknown[] = [];
const send = (
  mailer: Mailer = createSmtpMailer({ url: server.url, from: 'pay@service.example' }),
  nowMs = NOW_MS,
) =>
  sendReceipts({
    ...store,
    mailer,
    baseUrl: 'https://pay.example.com',
    explorerTransactionUrl: (hash) => `https://explorer.example/tx/${hash}`,
    nowMs: () => nowMs,
    log: { warn: (fields) => failed.push(fields) },
  });

async function givePaid(language: string | null = null) {
  const payment = await givePayment(store, {
    note: 'canary-note',
    orderLine: 'Two coffees',
    callbackUrl: 'https://canary.example/hook',
  });
  await store.payments.addSession(newSession(payment, { createdAtMs: NOW_MS, language }), () => null);
  await store.payments.decidePayment(payment.id, (view) => ({
    ...pay(view),
    change: {
      status: 'paid',
      forwardStatus: 'completed',
      paidAtMs: NOW_MS,
      txidIn: '0xd1',
      txidOut: '0xe2',
    },
  }));
  return payment;
}

/** The text of a mail, whose lines may be wrapped for the way, and whose letters may travel as others. */
function textOf(raw: string): string {
  const [head = '', ...body] = raw.split('\r\n\r\n');
  if (/^Content-Transfer-Encoding: base64/im.test(head))
    return Buffer.from(body.join(''), 'base64').toString();
  return raw
    .replaceAll('=\r\n', '')
    .replaceAll(/(=[0-9A-F]{2})+/g, (bytes) => decodeURIComponent(bytes.replaceAll('=', '%')));
}

it('sends the customer of a paid payment one receipt, with what a receipt needs and no more', async () => {
  const payment = await givePaid();
  await store.accounts.updateAccount(payment.accountId, { supportUrl: 'mailto:help@shop.example' });
  await send();
  await send();
  expect(server.mails).toHaveLength(1);
  const { to, raw } = server.mails[0] as (typeof server.mails)[number];
  expect(to).toEqual(['customer@example.com']);
  const text = textOf(raw);
  for (const part of [
    'You have paid €102.57 to Bücher & Söhne.\r\nTwo coffees\r\n',
    'Breakdown: €100.00 + €2.57 fee',
    'Card charged by: MoonPay',
    'https://explorer.example/tx/0xd1',
    'https://explorer.example/tx/0xe2',
    `https://pay.example.com/pay/${payment.id}`,
    'help@shop.example',
    'November 20, 2026',
  ]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain('canary');
});

it.each(languages)('writes to the customer in the language of their page: $code', async ({ code, words }) => {
  await givePaid(code);
  await send();
  const text = textOf((server.mails[0] as (typeof server.mails)[number]).raw);
  for (const part of [words.mail.warning, words.mail.page, words.facts.reference])
    expect(text.replaceAll(/\s+/g, ' ')).toContain(part);
});

it('tries again while the mail server cannot be reached, and then sends one', async () => {
  await givePaid();
  const [port] = await freePorts(1);
  const unreachable = createSmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: 'pay@service.example' });
  await expect(send(unreachable)).rejects.toThrow(MailNotSentError);
  await expect(send(unreachable)).rejects.toThrow(MailNotSentError);
  await send();
  await send();
  expect(server.mails).toHaveLength(1);
});

it('sends none a second time that may have been sent: not after a crash, nor after an unclear end', async () => {
  await givePaid();
  await store.receipts.claimReceipts(0, 10, NOW_MS);
  await send();
  expect(server.mails).toEqual([]);
  await givePaid();
  await send({ send: () => Promise.reject(new Error('the connection broke after the mail')) });
  expect(failed).toHaveLength(1);
  await send();
  expect(server.mails).toEqual([]);
});

it('sends none that is more than a day late', async () => {
  await givePaid();
  await send(undefined, NOW_MS + 25 * 3_600_000);
  expect(server.mails).toEqual([]);
  await send(undefined, NOW_MS + 23 * 3_600_000);
  expect(server.mails).toHaveLength(1);
});
