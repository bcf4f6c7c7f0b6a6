import { bodyWithoutEmail, textWithoutEmail, withoutEmail } from '../domain/email-retention.ts';
import type { PaymentReference } from '../domain/payment.ts';
import { firstIdAtMs } from '../domain/payment-id.ts';
import type {
  EmailErasure,
  EmailErasureStep,
  EmailStore,
  ReceiptEnding,
  ReceiptStore,
} from '../domain/ports/mail.ts';
import { INDEX_LOCK, removeOldTerms } from './payment-index.ts';
import { selectPayment } from './payment-rows.ts';
import {
  type EngineTraits,
  lock,
  run,
  runForOne,
  type Script,
  type Scripts,
  select,
  update,
} from './scripts.ts';
import { checkListLimit } from './store.ts';
import { refundTable } from './tables.ts';

/** Erases customers' e-mail addresses, on any engine. */
export function createEmailStore(scripts: Scripts, traits: EngineTraits): EmailStore {
  return {
    eraseEmail: (payment) => scripts.write(() => eraseEmail(traits, payment)),
    eraseEmailsBefore(accountId, beforeMs, limit) {
      checkListLimit(limit);
      return scripts.write(() => eraseEmailsBefore(traits, accountId, beforeMs, limit));
    },
  };
}

function* eraseEmail({ isByAccount }: EngineTraits, payment: PaymentReference): Script<EmailErasure> {
  const { accountId, id } = payment;
  // No other transaction indexes or decides the payment meanwhile: the write locks the row.
  yield* lock(INDEX_LOCK);
  yield* run('UPDATE payments SET email = email WHERE account_id = ?1 AND id = ?2', accountId, id);
  const before = yield* selectPayment(payment);
  if (before === null) return 'unknown';
  if (before.email === null) return 'none';
  if (!(yield* eraseFromWebhooks(payment, before.email))) return 'busy';
  // Whole, because providers hide the address in it in their own ways.
  yield* run(
    `UPDATE provider_sessions SET redirect_url = '', customer_ip_hash = NULL WHERE payment_id = ?1 AND ${isByAccount ? 'account_id = ?2' : "?2 <> ''"}`,
    id,
    accountId,
  );
  yield* eraseFromRefunds(payment, before.email);
  yield* run('UPDATE payments SET email = NULL WHERE account_id = ?1 AND id = ?2', accountId, id);
  yield* removeOldTerms(before, { ...before, email: null });
  return 'erased';
}

/** The address on the chain stays: it is public there, and the account of the money. */
function* eraseFromRefunds({ accountId, id }: PaymentReference, email: string): Script<void> {
  const rest = 'WHERE account_id = ?1 AND payment_id = ?2 AND reason IS NOT NULL';
  for (const refund of yield* select(refundTable, rest, accountId, id)) {
    yield* update(refundTable, { ...refund, reason: textWithoutEmail(refund.reason ?? '', email) });
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
  const webhooks = (yield* run(
    `UPDATE webhooks SET status = status WHERE account_id = ?1 AND id >= ?2 AND id < ?3
     RETURNING id, status, fields, body, response_excerpt AS answer`,
    accountId,
    `${id}:`,
    `${id};`,
  )) as unknown as RecordedWebhook[];
  if (webhooks.some(({ status }) => status === 'sending')) return false;
  for (const webhook of webhooks) {
    const fields = typeof webhook.fields === 'string' ? JSON.parse(webhook.fields) : webhook.fields;
    yield* run(
      `UPDATE webhooks SET fields = ?1, body = ?2, response_excerpt = ?3 WHERE account_id = ?4 AND id = ?5`,
      JSON.stringify(withoutEmail(fields, { isSent: webhook.status !== 'pending' })),
      webhook.body === null ? null : bodyWithoutEmail(webhook.body),
      webhook.answer === null ? null : textWithoutEmail(webhook.answer, email),
      accountId,
      webhook.id,
    );
  }
  return true;
}

function* eraseEmailsBefore(
  traits: EngineTraits,
  accountId: string,
  beforeMs: number,
  limit: number,
): Script<EmailErasureStep> {
  yield* lock(`e-mail addresses of ${accountId}`);
  const below = firstIdAtMs(beforeMs);
  if (!traits.isByAccount && !(yield* isIndexedBelow(below))) {
    return { erased: 0, hasMore: false, stoppedBy: 'index' };
  }
  const watermark = yield* runForOne<{ id: string }>(
    'SELECT payment_id AS id FROM email_watermarks WHERE account_id = ?1',
    accountId,
  );
  const ids = traits.isByAccount
    ? 'SELECT id FROM payments WHERE account_id = ?1 AND id > ?2 AND id < ?3 ORDER BY id LIMIT ?4'
    : `SELECT payment_id AS id FROM account_payments WHERE account_id = ?1 AND payment_id > ?2 AND payment_id < ?3
       ORDER BY payment_id LIMIT ?4`;
  const found = (yield* run(
    `SELECT payments.id, payments.email FROM (${ids}) AS found
     CROSS JOIN payments WHERE payments.account_id = ?1 AND payments.id = found.id ORDER BY found.id`,
    accountId,
    watermark?.id ?? '',
    below,
    limit,
  )) as unknown as { readonly id: string; readonly email: string | null }[];
  let erased = 0;
  let through: string | null = null;
  let isBusy = false;
  for (const { id, email } of found) {
    const outcome = email === null ? 'none' : yield* eraseEmail(traits, { accountId, id });
    isBusy = outcome === 'busy';
    if (isBusy) break;
    if (outcome === 'erased') erased++;
    through = id;
  }
  if (through !== null) {
    yield* run(
      `INSERT INTO email_watermarks (account_id, payment_id) VALUES (?1, ?2)
       ON CONFLICT (account_id) DO UPDATE SET payment_id = excluded.payment_id`,
      accountId,
      through,
    );
  }
  return { erased, hasMore: !isBusy && found.length === limit, stoppedBy: isBusy ? 'webhook' : null };
}

/** Whether every payment with an id below this one is in the table of the account's payments. */
function* isIndexedBelow(id: string): Script<boolean> {
  const next = yield* runForOne<{ id: string }>(
    'SELECT id FROM payments WHERE "row" > (SELECT coalesce(max(watermark), 0) FROM payment_index) ORDER BY "row" LIMIT 1',
  );
  return next === null || next.id >= id;
}

/** Lock under which one of several processes claims at a time. */
const CLAIM_LOCK = 'receipts';

export function createReceiptStore(scripts: Scripts): ReceiptStore {
  return {
    claimReceipts(sinceMs, limit, nowMs) {
      checkListLimit(limit);
      return scripts.write(() => claim(sinceMs, limit, nowMs));
    },
    recordReceipt: (payment, ending, nowMs) => scripts.write(() => record(payment, ending, nowMs)),
  };
}

function* claim(sinceMs: number, limit: number, nowMs: number): Script<readonly PaymentReference[]> {
  yield* lock(CLAIM_LOCK);
  const waiting = (yield* run(
    `SELECT account_id AS "accountId", payment_id AS "id" FROM receipts
     WHERE status = 'pending' AND created_at_ms >= ?1 ORDER BY created_at_ms LIMIT ?2`,
    sinceMs,
    limit,
  )) as unknown as PaymentReference[];
  for (const { accountId, id } of waiting) {
    yield* run(
      `UPDATE receipts SET status = 'sending', claimed_at_ms = ?1 WHERE account_id = ?2 AND payment_id = ?3`,
      nowMs,
      accountId,
      id,
    );
  }
  return waiting.map(({ accountId, id }) => ({ accountId, id }));
}

function* record({ accountId, id }: PaymentReference, ending: ReceiptEnding, nowMs: number): Script<void> {
  yield* run(
    `UPDATE receipts SET status = ?1, finished_at_ms = ?2
     WHERE account_id = ?3 AND payment_id = ?4 AND status = 'sending'`,
    ending,
    ending === 'pending' ? null : nowMs,
    accountId,
    id,
  );
}
