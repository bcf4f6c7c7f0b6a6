import { UnknownStateError } from '../../domain/errors.ts';
import type { WebhookStore } from '../../domain/ports/settlement-store.ts';
import type { WaitingWebhook } from '../../domain/webhook.ts';
import { checkListLimit } from '../store.ts';
import { byAge, type WebhookRow, webhookColumns, webhookOfRow } from '../webhook-rows.ts';
import type { Database } from './open-database.ts';
import { statement } from './statements.ts';

const joinPayments = 'payments.account_id = webhooks.account_id AND payments.id = webhooks.payment_id';

/** What another instance is claiming is passed over, so that claims neither wait for each other nor take the same. */
const claim = statement(`
  WITH webhooks AS (
    UPDATE webhooks SET status = 'sending', claimed_at_ms = $1
    WHERE (id, account_id) IN (
      SELECT id, account_id FROM webhooks WHERE id = ANY($2) AND status = 'pending' FOR UPDATE SKIP LOCKED)
    RETURNING *
  )
  SELECT ${webhookColumns} FROM webhooks JOIN payments ON ${joinPayments}`);
/** From account to account by the index: it takes no longer where one of them has a million waiting. */
const selectWaiting = statement(`
  WITH RECURSIVE waiting (account_id) AS (
    (SELECT account_id FROM webhooks WHERE status = 'pending' ORDER BY account_id LIMIT 1)
    UNION ALL
    SELECT (SELECT account_id FROM webhooks WHERE status = 'pending' AND account_id > waiting.account_id
      ORDER BY account_id LIMIT 1)
    FROM waiting WHERE waiting.account_id IS NOT NULL
  )
  SELECT oldest.* FROM waiting CROSS JOIN LATERAL (
    SELECT id, account_id AS "accountId", host, created_at_ms AS "createdAtMs" FROM webhooks
    WHERE status = 'pending' AND webhooks.account_id = waiting.account_id AND host <> ALL($2)
    ORDER BY created_at_ms, id LIMIT $1) oldest
  WHERE waiting.account_id IS NOT NULL`);
const selectOfPayment = statement(`
  SELECT ${webhookColumns} FROM webhooks JOIN payments ON ${joinPayments}
  WHERE webhooks.id >= $1 AND webhooks.id < $2 ORDER BY webhooks.id`);
const finish = statement(`
  UPDATE webhooks SET status = $1, http_status = $2, reason = $3, duration_ms = $4, response_excerpt = $5, body = $6,
    signature = $7, finished_at_ms = $8 WHERE id = $9 AND account_id = $10 AND status = 'sending'`);
const abandon = statement(`
  UPDATE webhooks SET status = 'unknown', reason = 'interrupted', duration_ms = 0, response_excerpt = '',
    finished_at_ms = $1 WHERE status = 'sending' AND claimed_at_ms < $2`);

export function createWebhookStore(database: Database, nowMs: () => number): WebhookStore {
  return {
    async listWaitingWebhooks(perAccount, exceptHosts) {
      checkListLimit(perAccount);
      return database.query<WaitingWebhook>(selectWaiting, [perAccount, exceptHosts]);
    },
    async claimWebhooks(ids, claimedAtMs) {
      if (ids.length === 0) return [];
      const rows = await database.query<WebhookRow>(claim, [claimedAtMs, ids]);
      return rows.map(webhookOfRow).sort(byAge);
    },
    async recordWebhookResult({ id, accountId }, result) {
      const changed = await database.execute(finish, [
        result.outcome,
        result.httpStatus,
        result.reason,
        result.durationMs,
        result.responseExcerpt,
        result.body,
        result.signature,
        result.finishedAtMs,
        id,
        accountId,
      ]);
      if (changed !== 1) throw new UnknownStateError(`webhook ${id} is not being sent`);
    },
    abandonStaleWebhooks: (beforeMs) => database.execute(abandon, [nowMs(), beforeMs]),
    // The ids of a payment's webhooks begin with its own and a colon; the semicolon is the next character.
    async listWebhooks(paymentId) {
      const rows = await database.query<WebhookRow>(selectOfPayment, [`${paymentId}:`, `${paymentId};`]);
      return rows.map(webhookOfRow);
    },
  };
}
