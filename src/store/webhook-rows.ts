import { UnknownStateError } from '../domain/errors.ts';
import type { Webhook, WebhookResult, WebhookStatus } from '../domain/webhook.ts';

/**
 * For `SELECT … FROM webhooks JOIN payments`. Where it goes and whose token it carries are the payment's, and never
 * change.
 */
export const webhookColumns = `
  webhooks.id, payments.account_id AS "accountId", payment_id AS "paymentId", event, fields, callback_url AS "url",
  host, token_fingerprint AS "tokenFingerprint", webhooks.status, webhooks.created_at_ms AS "createdAtMs",
  claimed_at_ms AS "claimedAtMs", http_status AS "httpStatus", reason, duration_ms AS "durationMs",
  response_excerpt AS "responseExcerpt", body, signature, finished_at_ms AS "finishedAtMs"`;

export type WebhookRow = Omit<Webhook, 'result'> & Omit<WebhookResult, 'outcome'>;

/** Comparison for sorting, the oldest first. */
export function byAge(one: Webhook, other: Webhook): number {
  return one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1);
}

/** @throws UnknownStateError for a status the domain does not know */
export function webhookOfRow(row: WebhookRow): Webhook {
  return {
    id: row.id,
    accountId: row.accountId,
    paymentId: row.paymentId,
    event: row.event,
    fields: row.fields,
    url: row.url,
    host: row.host,
    tokenFingerprint: row.tokenFingerprint,
    status: row.status,
    createdAtMs: row.createdAtMs,
    claimedAtMs: row.claimedAtMs,
    result: resultOf(row, row.status),
  };
}

function resultOf(row: WebhookRow, status: WebhookStatus): WebhookResult | null {
  switch (status) {
    case 'pending':
    case 'sending':
      return null;
    case 'delivered':
    case 'failed':
    case 'blocked':
    case 'unknown': {
      const { httpStatus, reason, durationMs, responseExcerpt, body, signature, finishedAtMs } = row;
      return {
        outcome: status,
        httpStatus,
        reason,
        durationMs,
        responseExcerpt,
        body,
        signature,
        finishedAtMs,
      };
    }
    default:
      throw new UnknownStateError(`webhook ${row.id} has the status ${status satisfies never}`);
  }
}
