import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createExamplePayments, exampleAccount } from '../../sandbox/pages/example-payments.ts';
import { exampleState } from '../../sandbox/pages/example-states.ts';
import { eraseOldData } from '../../src/accounts/erase-old-data.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { receiptMail } from '../../src/features/receipts/receipt-mail.ts';
import { sendReceipts } from '../../src/features/receipts/send-receipts.ts';
import { type Mailer, MailNotSentError } from '../../src/mail/mail.ts';
import { createSmtpMailer } from '../../src/mail/mailers.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { receiptNumberOf } from '../../src/payment/payment-id.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import { languages } from '../../src/web/checkout-layout/languages.ts';
import { givePayment, NOW_MS, newAccount, newPayment, newSession, pay } from '../store/fixtures.ts';
import { shopLogo } from '../support/checkout-pages.ts';
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
    adapters: new Map([['paypal', { id: 'paypal', routedThrough: 'moonpay' } as ProviderAdapter]]),
    nowMs: () => nowMs,
    log: { warn: (fields) => failed.push(fields) },
  });

async function givePaid(language: string | null = null, change: Partial<Payment> = {}) {
  const payment = await givePayment(store, {
    ...change,
    note: 'canary-note',
    orderLine: 'Two coffees',
    callbackUrl: 'https://canary.example/hook',
  });
  await store.payments.addSession(
    newSession(payment, { provider: 'paypal', createdAtMs: NOW_MS, language }),
    () => null,
  );
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

/** A part of a mail, whose lines may be wrapped for the way, and whose letters may travel as others. */
function partOf(raw: string, type: string): string {
  const [, rest = ''] = raw.split(`Content-Type: ${type}`);
  const [head = '', ...body] = rest.split(/\r\n--[-_\w]+/)[0]?.split('\r\n\r\n') ?? [];
  if (/^Content-Transfer-Encoding: base64/im.test(head))
    return Buffer.from(body.join(''), 'base64').toString();
  return body
    .join('\r\n\r\n')
    .replaceAll('=\r\n', '')
    .replaceAll(/(=[0-9A-F]{2})+/g, (bytes) => decodeURIComponent(bytes.replaceAll('=', '%')));
}
const textOf = (raw: string) => partOf(raw, 'text/plain');
const theMail = () => server.mails[0] as (typeof server.mails)[number];

it('sends the customer of a paid payment one receipt, with what a receipt needs and no more', async () => {
  const payment = await givePaid();
  const look = { brandColor: '#a01830', logo: shopLogo, supportUrl: 'mailto:help@shop.example' };
  await store.accounts.updateAccount(payment.accountId, look);
  await send();
  await send();
  expect(server.mails.map(({ to }) => to)).toEqual([['customer@example.com']]);
  const text = textOf(theMail().raw);
  const html = partOf(theMail().raw, 'text/html');
  const inBoth = [
    'You have paid €102.57 to ',
    'Two coffees',
    receiptNumberOf(payment.id),
    '€100.00 + €2.57',
    'Likely on your statement',
    'MoonPay',
    'help@shop.example',
  ];
  const links = [
    'https://explorer.example/tx/0xd1',
    'https://explorer.example/tx/0xe2',
    `/pay/${payment.id}`,
  ];
  for (const part of [...inBoth, ...links, 'November 20, 2026']) {
    expect(text).toContain(part);
    expect(html).toContain(part);
  }
  expect(html).toContain('background:#a01830');
  expect(html.match(/(src=|url\()"[^"]*"/g)).toEqual(['src="cid:logo"']);
  expect(theMail().raw).toMatch(/Content-Type: image\/png[\s\S]*Content-ID: <logo>/i);
  expect(text + html).not.toMatch(/canary|PayPal/);
});

const ask = (payment: Payment, language: string) =>
  store.receipts.askForReceipt(payment.id, { email: 'jane@example.com', language }, NOW_MS);

it('says what happened instead where the payment expired', async () => {
  const payment = await givePayment(store, { email: null });
  await ask(payment, 'en');
  await send();
  expect(server.mails).toEqual([]);
  await store.payments.decidePayment(payment.id, () => ({
    change: { status: 'canceled', forwardStatus: 'canceled', cancelReason: 'expired' },
  }));
  await send();
  const text = textOf(theMail().raw);
  for (const part of ['This checkout has expired', 'To pay €102.57, start again', `Reference: ${payment.id}`])
    expect(text).toContain(part);
  expect(text).not.toContain('You have paid');
});

it('keeps the address of a payment that stays held for 30 days', async () => {
  const payment = await givePayment(store, { email: null });
  await ask(payment, 'en');
  const statuses = [];
  for (const days of [29, 31]) {
    const keeping = { auditDays: null, customerDataDays: null };
    await eraseOldData({ ...store, nowMs: () => NOW_MS + days * 86_400_000 }, keeping);
    statuses.push(await store.receipts.findReceiptStatus(payment.id));
  }
  expect(statuses).toEqual(['wanted', 'failed']);
});

it('takes whatever a shop and an order are called for text', () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('</title><script>', '"><img src=x onerror=1>', '</style>', '&lt;'),
  );
  const paid = newPayment('shop', {
    status: 'paid',
    forwardStatus: 'completed',
    paidAtMs: NOW_MS,
    txidIn: '0xd1',
  });
  const observations = { deposits: [], releases: [], finalBlock: 0 };
  const links = { baseUrl: 'https://pay.example.com', explorerTransactionUrl: () => null };
  const tagsOf = (name: string, orderLine: string) => {
    const view = { payment: { ...paid, orderLine }, sessions: [], observations };
    const shop = { account: newAccount({ name }), logo: null };
    return receiptMail({ email: null, language: null }, view, shop, links)?.html?.match(/<[^>]*>/g);
  };
  const usual = tagsOf('Shop', 'Order');
  fc.assert(fc.property(nasty, nasty, (name, line) => void expect(tagsOf(name, line)).toEqual(usual)));
});

it('lists every arrival of a payment that was paid twice, and says what to do', () => {
  const view = exampleState(createExamplePayments(NOW_MS, { email: 'jane@example.com' }), 'paid-twice');
  const links = { baseUrl: 'https://pay.example.com', explorerTransactionUrl: () => null };
  const shop = { account: exampleAccount, logo: null };
  const text = receiptMail({ email: null, language: null }, view, shop, links)?.text ?? '';
  expect(text).toContain('Ask Café Tortuga to refund the duplicate');
  for (const { transactionHash } of view.observations.deposits)
    expect(text).toContain(`Arrived with transaction (24.50\u00a0USDC): ${transactionHash}`);
});

it.each(languages)(
  'writes in the language of the page, also to an address that the customer gave: $code',
  async ({ code, words }) => {
    await givePaid(code);
    await ask(await givePaid(null, { email: null }), code);
    await send();
    await send();
    expect(server.mails.map(({ to }) => to[0]).sort()).toEqual(['customer@example.com', 'jane@example.com']);
    for (const { to, raw } of server.mails) {
      const text = textOf(raw).replaceAll(/\s+/g, ' ');
      for (const part of [words.mail.warning, words.mail.page, words.facts.reference])
        expect(text).toContain(part);
      expect(text.includes(words.mail.asked)).toBe(to[0] === 'jane@example.com');
    }
    expect(await store.receipts.eraseAddresses(NOW_MS, 2 * NOW_MS, 2 * NOW_MS, 10)).toBe(0);
  },
);

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
