/** Erases customer data: email addresses, metadata, form answers, notes, provider URLs and webhook contents. */
import type { EmailErasure, EmailStore } from '../mail/mail.ts';
import type { PaymentId, PaymentReference } from '../payment/payment.ts';
import { firstIdAtMs } from '../payment/payment-id.ts';
import { bodyWithoutEmail, textWithoutEmail, withoutEmail } from '../payment/redact-email.ts';
import { documentOf } from './columns.ts';
import { replaceTerms } from './payment-search.ts';
import { selectPayment } from './payments.ts';
import { CLAIM_LOCK } from './receipts.ts';
import {
  hasRow,
  lock,
  lockPayments,
  raw,
  run,
  runForOne,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import type { StoredFeature } from './stored-feature.ts';
import { receiptTable } from './tables.ts';

/** Account id of the watermark for erasures across all accounts. */
const ALL_ACCOUNTS = '';

export function createEmailStore({ write }: Scripts, features: readonly StoredFeature[]): EmailStore {
  const others = features.flatMap(({ personal }) => personal ?? []);
  const personalSql = [{ table: receiptTable, column: 'email' }, ...others].map(
    ({ table, column }) => `(SELECT ${column} FROM ${table.name} WHERE payment_id = payments.id)`,
  );
  const personal = ['email', 'CAST(metadata AS text)', ...personalSql, 'NULL'].join(', ');

  function* lockFeatures(): Script<void> {
    for (const { erasureLock } of features) if (erasureLock !== undefined) yield* lock(erasureLock);
  }

  function* eraseEmail({ accountId, id }: PaymentReference): Script<EmailErasure> {
    yield* lockFeatures();
    // Locks the row by updating it, so that no concurrent transaction indexes or changes the payment.
    yield* run`UPDATE payments SET email = email WHERE id = ${id}`;
    const before = yield* selectPayment(id);
    if (before?.accountId !== accountId) return 'unknown';
    if (before.email !== null && !(yield* eraseFromWebhooks(id, before.email))) return 'busy';
    yield* run`
      UPDATE receipts SET email = NULL, status = CASE status WHEN 'sent' THEN status ELSE 'failed' END WHERE payment_id = ${id}`;
    yield* run`UPDATE payments SET metadata = NULL WHERE id = ${id}`;
    let hadOther = before.metadata !== null;
    for (const { table, column } of others) {
      const isEmptied = yield* hasRow`
        UPDATE ${raw(table.name)} SET ${raw(column)} = NULL
        WHERE payment_id = ${id} AND ${raw(column)} IS NOT NULL RETURNING payment_id`;
      hadOther ||= isEmptied;
    }
    if (before.email === null) return hadOther ? 'erased' : 'none';
    // Erases the whole URL, because each provider encodes the email address differently.
    yield* run`
      UPDATE provider_sessions SET redirect_url = '', customer_ip_hash = NULL
      WHERE payment_id = ${id}`;
    for (const feature of features) yield* feature.emailErased?.(id, before.email) ?? [];
    yield* run`UPDATE payments SET email = NULL WHERE id = ${id}`;
    yield* replaceTerms(before, { ...before, email: null });
    return 'erased';
  }

  return {
    eraseEmail: write(eraseEmail),
    eraseReceiptAddress: write(function* (accountId, email) {
      yield* lock(CLAIM_LOCK);
      yield* run`
        UPDATE receipts SET status = 'failed', email = NULL WHERE email IS NOT NULL AND lower(email) = ${email}
        AND (SELECT account_id FROM payments WHERE id = payment_id) = ${accountId}`;
    }),
    eraseEmailsBefore: write(function* (accountId, beforeMs, limit) {
      const name = accountId ?? ALL_ACCOUNTS;
      yield* lock(`email addresses of ${name}`);
      yield* lockFeatures();
      const below = firstIdAtMs(beforeMs);
      const watermark = yield* runForOne<{ id: string }>`
        SELECT payment_id AS id FROM email_watermarks WHERE account_id = ${name}`;
      const from = watermark?.id ?? '';
      const ofAccount = accountId === null ? sql`` : sql`account_id = ${accountId} AND `;
      const found = (yield* run`
        SELECT id, account_id AS "accountId", coalesce(${raw(personal)}) AS personal FROM payments
        WHERE ${ofAccount}id > ${from} AND id < ${below} ORDER BY id LIMIT ${limit}`) as unknown as {
        readonly id: string;
        readonly accountId: string;
        readonly personal: string | null;
      }[];
      let erased = 0;
      let through: string | null = null;
      let isBusy = false;
      for (const { personal, ...payment } of found) {
        const { id } = payment;
        const isErasable = accountId !== null || (yield* eraseContents(id));
        const outcome = !isErasable ? 'busy' : personal === null ? 'none' : yield* eraseEmail(payment);
        isBusy = outcome === 'busy';
        if (isBusy) break;
        if (outcome === 'erased') erased++;
        through = id;
      }
      if (through !== null) {
        yield* run`INSERT INTO email_watermarks (account_id, payment_id) VALUES (${name}, ${through})
           ON CONFLICT (account_id) DO UPDATE SET payment_id = excluded.payment_id`;
      }
      return { erased, hasMore: !isBusy && found.length === limit, stoppedBy: isBusy ? 'webhook' : null };
    }),
  };
}

interface RecordedWebhook {
  readonly id: string;
  readonly status: string;
  /** Webhook's fields, as JSON text in SQLite and parsed in PostgreSQL. */
  readonly fields: string | Record<string, unknown>;
  readonly body: string | null;
  readonly answer: string | null;
}

/**
 * Locks a payment's webhooks by updating them, so that no sender claims them. Webhook ids begin with the payment id and
 * a colon. The character after the colon is the semicolon, which ends the range.
 */
function* holdWebhooks(id: PaymentId): Script<RecordedWebhook[]> {
  const held = yield* run`
    UPDATE webhooks SET status = status
    WHERE id >= ${`${id}:`} AND id < ${`${id};`}
    RETURNING id, status, fields, body, response_excerpt AS answer`;
  return held as unknown as RecordedWebhook[];
}

/** Erases a payment's note, provider URLs and webhook contents. Returns false while a webhook is not yet finished. */
function* eraseContents(id: PaymentId): Script<boolean> {
  yield* lockPayments([id]);
  const webhooks = yield* holdWebhooks(id);
  if (webhooks.some(({ status }) => status === 'pending' || status === 'sending')) return false;
  for (const webhook of webhooks) {
    const fields = JSON.stringify({ ...documentOf(webhook.fields), note: null });
    yield* run`
      UPDATE webhooks SET fields = ${fields}, body = NULL, signature = NULL, response_excerpt = '' WHERE id = ${webhook.id}`;
  }
  yield* run`UPDATE provider_sessions SET redirect_url = '', customer_ip_hash = NULL WHERE payment_id = ${id}`;
  const before = yield* selectPayment(id);
  if (before === null || before.note === null) return true;
  yield* run`UPDATE payments SET note = NULL WHERE id = ${id}`;
  yield* replaceTerms(before, { ...before, note: null });
  return true;
}

/** Erases an email address from webhooks. Returns false and changes nothing while a webhook is in flight. */
function* eraseFromWebhooks(id: PaymentId, email: string): Script<boolean> {
  const webhooks = yield* holdWebhooks(id);
  if (webhooks.some(({ status }) => status === 'sending')) return false;
  for (const webhook of webhooks) {
    const fields = documentOf(webhook.fields);
    const kept = withoutEmail(fields, { isSent: webhook.status !== 'pending' });
    const body = webhook.body === null ? null : bodyWithoutEmail(webhook.body);
    const answer = webhook.answer === null ? null : textWithoutEmail(webhook.answer, email);
    yield* run`
      UPDATE webhooks SET fields = ${JSON.stringify(kept)}, body = ${body}, response_excerpt = ${answer}
      WHERE id = ${webhook.id}`;
  }
  return true;
}
