import { bodyWithoutEmail, textWithoutEmail, withoutEmail } from '../domain/email-retention.ts';
import type { PaymentReference } from '../domain/payment.ts';
import { firstIdAtMs } from '../domain/payment-id.ts';
import type { EmailErasure, EmailStore, ReceiptStore } from '../domain/ports/mail.ts';
import { INDEX_LOCK, replaceTerms } from './payment-index.ts';
import { selectPayment } from './payments.ts';
import { REFUND_LOCK } from './refunds.ts';
import {
  checkedLimit,
  type EngineTraits,
  hasRow,
  lock,
  run,
  runForOne,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import { refundTable } from './tables.ts';

export function createEmailStore({ write }: Scripts, { isByAccount }: EngineTraits): EmailStore {
  function* eraseEmail(payment: PaymentReference): Script<EmailErasure> {
    const { accountId, id } = payment;
    // No other transaction indexes or decides the payment meanwhile, or changes its refunds: the write locks the row.
    yield* lock(INDEX_LOCK);
    yield* lock(REFUND_LOCK);
    yield* run`UPDATE payments SET email = email WHERE account_id = ${accountId} AND id = ${id}`;
    const before = yield* selectPayment({ accountId, id });
    if (before === null) return 'unknown';
    if (before.email !== null && !(yield* eraseFromWebhooks(payment, before.email))) return 'busy';
    const hadAnswer = yield* hasRow`
      UPDATE page_payments SET answer = NULL
      WHERE account_id = ${accountId} AND payment_id = ${id} AND answer IS NOT NULL RETURNING payment_id`;
    if (before.email === null) return hadAnswer ? 'erased' : 'none';
    // Whole, because providers hide the address in it in their own ways.
    yield* run`
      UPDATE provider_sessions SET redirect_url = '', customer_ip_hash = NULL
      WHERE payment_id = ${id} AND account_id = ${accountId}`;
    yield* eraseFromRefunds(payment, before.email);
    yield* run`UPDATE payments SET email = NULL WHERE account_id = ${accountId} AND id = ${id}`;
    yield* replaceTerms(before, { ...before, email: null });
    return 'erased';
  }

  return {
    eraseEmail: write(eraseEmail),
    eraseEmailsBefore: write(function* (accountId, beforeMs, limit) {
      checkedLimit(limit);
      yield* lock(`email addresses of ${accountId}`);
      const below = firstIdAtMs(beforeMs);
      if (!isByAccount && !(yield* isIndexedBelow(below)))
        return { erased: 0, hasMore: false, stoppedBy: 'index' };
      const watermark = yield* runForOne<{ id: string }>`
        SELECT payment_id AS id FROM email_watermarks WHERE account_id = ${accountId}`;
      const from = watermark?.id ?? '';
      const ids = isByAccount
        ? sql`SELECT id FROM payments
            WHERE account_id = ${accountId} AND id > ${from} AND id < ${below} ORDER BY id LIMIT ${limit}`
        : sql`SELECT payment_id AS id FROM account_payments
            WHERE account_id = ${accountId} AND payment_id > ${from} AND payment_id < ${below}
            ORDER BY payment_id LIMIT ${limit}`;
      const found = (yield* run`
        SELECT payments.id, coalesce(payments.email, answer) AS personal FROM (${ids}) AS found
        CROSS JOIN payments LEFT JOIN page_payments
          ON page_payments.account_id = payments.account_id AND page_payments.payment_id = payments.id
        WHERE payments.account_id = ${accountId} AND payments.id = found.id
        ORDER BY found.id`) as unknown as { readonly id: string; readonly personal: string | null }[];
      let erased = 0;
      let through: string | null = null;
      let isBusy = false;
      for (const { id, personal } of found) {
        const outcome = personal === null ? 'none' : yield* eraseEmail({ accountId, id });
        isBusy = outcome === 'busy';
        if (isBusy) break;
        if (outcome === 'erased') erased++;
        through = id;
      }
      if (through !== null) {
        yield* run`INSERT INTO email_watermarks (account_id, payment_id) VALUES (${accountId}, ${through})
           ON CONFLICT (account_id) DO UPDATE SET payment_id = excluded.payment_id`;
      }
      return { erased, hasMore: !isBusy && found.length === limit, stoppedBy: isBusy ? 'webhook' : null };
    }),
  };
}

/** The address on the chain stays: it is public there, and the account of the money. */
function* eraseFromRefunds({ accountId, id }: PaymentReference, email: string): Script<void> {
  const refunds = yield* refundTable.select`
    WHERE account_id = ${accountId} AND payment_id = ${id} AND reason IS NOT NULL`;
  for (const refund of refunds) {
    yield* refundTable.update({ ...refund, reason: textWithoutEmail(refund.reason ?? '', email) });
  }
}

interface RecordedWebhook {
  readonly id: string;
  readonly status: string;
  /** JSON, which one engine reads and the other does not. */
  readonly fields: string | Record<string, unknown>;
  readonly body: string | null;
  readonly answer: string | null;
}

/** False, with nothing changed, when one of them is being sent. */
function* eraseFromWebhooks({ accountId, id }: PaymentReference, email: string): Script<boolean> {
  // The rows are held by being written, all of them before the first is changed: else one could be claimed meanwhile. The
  // ids of a payment's webhooks begin with its own and a colon; the semicolon is the next character.
  const held = yield* run`
    UPDATE webhooks SET status = status
    WHERE account_id = ${accountId} AND id >= ${`${id}:`} AND id < ${`${id};`}
    RETURNING id, status, fields, body, response_excerpt AS answer`;
  const webhooks = held as unknown as RecordedWebhook[];
  if (webhooks.some(({ status }) => status === 'sending')) return false;
  for (const webhook of webhooks) {
    const fields = typeof webhook.fields === 'string' ? JSON.parse(webhook.fields) : webhook.fields;
    const kept = withoutEmail(fields, { isSent: webhook.status !== 'pending' });
    const body = webhook.body === null ? null : bodyWithoutEmail(webhook.body);
    const answer = webhook.answer === null ? null : textWithoutEmail(webhook.answer, email);
    yield* run`
      UPDATE webhooks SET fields = ${JSON.stringify(kept)}, body = ${body}, response_excerpt = ${answer}
      WHERE account_id = ${accountId} AND id = ${webhook.id}`;
  }
  return true;
}

/** Whether every payment with an id below this one is in the table of the account's payments. */
function* isIndexedBelow(id: string): Script<boolean> {
  const next = yield* runForOne<{ id: string }>`
    SELECT id FROM payments WHERE "row" > (SELECT coalesce(max(watermark), 0) FROM payment_index)
    ORDER BY "row" LIMIT 1`;
  return next === null || next.id >= id;
}

/** Lock under which one of several processes claims at a time. */
const CLAIM_LOCK = 'receipts';

export function createReceiptStore({ write }: Scripts): ReceiptStore {
  return {
    claimReceipts: write(function* (sinceMs, limit, nowMs) {
      yield* lock(CLAIM_LOCK);
      const waiting = (yield* run`
        SELECT account_id AS "accountId", payment_id AS "id" FROM receipts
        WHERE status = 'pending' AND created_at_ms >= ${sinceMs}
        ORDER BY created_at_ms LIMIT ${checkedLimit(limit)}`) as unknown as PaymentReference[];
      for (const { accountId, id } of waiting) {
        yield* run`
          UPDATE receipts SET status = 'sending', claimed_at_ms = ${nowMs}
          WHERE account_id = ${accountId} AND payment_id = ${id}`;
      }
      return waiting.map(({ accountId, id }) => ({ accountId, id }));
    }),
    recordReceipt: write(function* ({ accountId, id }, ending, nowMs) {
      yield* run`UPDATE receipts SET status = ${ending}, finished_at_ms = ${ending === 'pending' ? null : nowMs}
         WHERE account_id = ${accountId} AND payment_id = ${id} AND status = 'sending'`;
    }),
  };
}
