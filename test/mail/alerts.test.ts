import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/app/store/store.ts';
import { sendAlerts } from '../../src/features/alerts/send-alerts.ts';
import { type Mailer, MailNotSentError } from '../../src/mail/mail.ts';
import { createSmtpMailer } from '../../src/mail/mailers.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { failedResult, givePayment, newPayment, pay } from '../store/fixtures.ts';
import { giveMember } from '../store/people.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { createTestDatabase } from '../support/test-store.ts';

const MINUTE_MS = 60_000;
const down: Mailer = {
  send: async () => {
    throw new MailNotSentError('down');
  },
};

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: Store;
let server: Awaited<ReturnType<typeof startSmtpServer>>;
let nowMs: number;
let payment: Payment;
let ownerEmail: string;

beforeEach(async () => {
  // The store writes down by its own clock when a payment came into a state: it has to be after what is known.
  nowMs = Date.now() - 2 * MINUTE_MS;
  database = await createTestDatabase();
  store = await database.open();
  server = await startSmtpServer();
  payment = await givePayment(store, { note: 'canary-note' });
  ownerEmail = (await giveMember(store, payment.accountId, 'owner')).email;
  await giveMember(store, payment.accountId, 'viewer');
  await tell();
});
afterEach(async () => {
  await server.close();
  await store.close();
  await database.remove();
});

/** A minute later. */
function tell(
  mailer: Mailer = createSmtpMailer({ url: server.url, from: 'pay@service.example' }),
  { signal = new AbortController().signal, search = store.search } = {},
) {
  nowMs += MINUTE_MS;
  const told = {
    ...store,
    search,
    mailer,
    nowMs: () => nowMs,
    dashboardUrl: 'https://pay.example.com/dashboard',
    log: { warn: () => {} },
  };
  return sendAlerts(told, signal);
}

/** A webhook of another payment of the account that has just ended in some way. */
async function endWebhook(outcome: 'failed' | 'unknown' | 'delivered'): Promise<Payment> {
  const paid = newPayment(payment.accountId);
  await store.payments.createPayment(paid, null);
  await store.payments.decidePayment(paid.id, pay);
  const [claimed] = await claimOldest(store.webhooks, 1, nowMs);
  await store.webhooks.recordWebhookResult(claimed as never, {
    ...failedResult,
    outcome,
    reason: 'connection_refused',
    finishedAtMs: nowMs,
  });
  return paid;
}

const texts = () => server.mails.map(({ raw }) => raw.replaceAll('=\r\n', ''));

describe('owners', () => {
  it('are told of webhooks that did not arrive, and nobody else is', async () => {
    const paid = await endWebhook('failed');
    await endWebhook('delivered');
    await tell();
    await tell();
    expect(server.mails.map(({ to }) => to)).toEqual([[ownerEmail]]);
    const [text] = texts();
    expect(text).toContain('shop.example.com: failed (connection_refused)');
    expect(text).toContain(`https://pay.example.com/dashboard/payments/${paid.id}`);
    expect(text).not.toMatch(/canary|customer@/);
  });

  it('are told of a payment that needs a hand beside it', async () => {
    await endWebhook('unknown');
    const change = { status: 'canceled', forwardStatus: 'manual_required' } as const;
    await store.payments.decidePayment(payment.id, () => ({ change }));
    nowMs += 2 * MINUTE_MS;
    await tell();
    expect(texts()).toHaveLength(2);
    const about = texts().find((text) => text.includes('could not be sent to your wallet'));
    expect(about).toContain(`/payments/${payment.id}`);
  });

  it('are told once an hour at most, then of all that has come up meanwhile', async () => {
    for (let index = 0; index < 3; index++) {
      await endWebhook('failed');
      await tell();
    }
    expect(texts()).toHaveLength(1);
    nowMs += 60 * MINUTE_MS;
    await tell();
    expect(texts()).toHaveLength(2);
    expect(texts()[1]?.match(/connection_refused/g)).toHaveLength(2);
  });

  it('are not told where they do not want it', async () => {
    await store.accounts.updateAccount(payment.accountId, { receivesAlerts: false });
    await endWebhook('failed');
    await tell();
    expect(server.mails).toEqual([]);
  });

  it('are told later when the mail server cannot be reached, and not of what is older than a day', async () => {
    await endWebhook('failed');
    await expect(tell(down)).rejects.toThrow(MailNotSentError);
    await tell();
    expect(server.mails).toHaveLength(1);
    await endWebhook('failed');
    nowMs += 25 * 60 * MINUTE_MS;
    await tell();
    expect(server.mails).toHaveLength(1);
  });

  it('are told later when the process stops before the first mail, and none is begun after it', async () => {
    await giveMember(store, payment.accountId, 'owner');
    await endWebhook('failed');
    expect(await tell(undefined, { signal: AbortSignal.abort() })).toBe(false);
    expect(server.mails).toEqual([]);
    const stopping = new AbortController();
    const sent: [string, unknown][] = [];
    await tell(
      {
        async send({ to }, options) {
          sent.push([to, options]);
          stopping.abort();
        },
      },
      { signal: stopping.signal },
    );
    expect(sent).toEqual([[ownerEmail, { isBackground: true }]]);
    await tell();
    expect(server.mails, 'nobody is told twice').toEqual([]);
  });

  it('are not tried one after the other while the mail server is away', async () => {
    await giveMember(store, payment.accountId, 'owner');
    await endWebhook('failed');
    let tries = 0;
    const counting: Mailer = {
      send(mail) {
        tries++;
        return down.send(mail);
      },
    };
    await expect(tell(counting)).rejects.toThrow(MailNotSentError);
    expect(tries).toBe(1);
    await tell();
    expect(server.mails).toHaveLength(2);
  });
});
