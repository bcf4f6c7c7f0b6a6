import { UnknownStateError } from '../payment/errors.ts';
import type {
  ClaimableWebhooks,
  WaitingWebhook,
  Webhook,
  WebhookResult,
  WebhookStore,
} from '../webhooks/send-webhook.ts';
import { type Row, textsOf } from './columns.ts';
import { giveUpWebhooks } from './restores.ts';
import { raw, run, type Script, type Scripts, sql } from './scripts.ts';
import { webhookTable } from './tables.ts';

/** Columns of a webhook. Its URL and token fingerprint come from the payment, where both never change. */
const selected = `${webhookTable.qualifiedNames}, payments.callback_url, payments.token_fingerprint,
  (SELECT webhook_secrets FROM accounts WHERE accounts.id = webhooks.account_id) AS secrets`;

const joined = 'FROM webhooks JOIN payments ON payments.id = webhooks.payment_id';

export function createWebhookStore({ read, write }: Scripts, nowMs: () => number): WebhookStore {
  return {
    listWaitingWebhooks: read(listWaiting),
    claimWebhooks: write(claimPending),
    // Also replaces the reason `interrupted`, which a clock jump can set during a delivery.
    recordWebhookResult: write(function* ({ id }, result) {
      const recorded = yield* run`
        UPDATE webhooks SET status = ${result.outcome}, http_status = ${result.httpStatus},
          reason = ${result.reason}, duration_ms = ${result.durationMs},
          response_excerpt = ${result.responseExcerpt}, body = ${result.body}, signature = ${result.signature},
          finished_at_ms = ${result.finishedAtMs}
        WHERE id = ${id} AND (status = 'sending' OR reason = 'interrupted')
        RETURNING id`;
      if (recorded.length !== 1) throw new UnknownStateError(`webhook ${id} is not being sent`);
    }),
    abandonStaleWebhooks: write(function* (beforeMs) {
      const isStale = sql`status = 'sending' AND claimed_at_ms < ${beforeMs}`;
      return yield* giveUpWebhooks(isStale, 'interrupted', nowMs());
    }),
    // Webhook ids begin with the payment id and a colon. The character after the colon is the semicolon.
    listWebhooks: read(function* (paymentId) {
      const rows = yield* run`
        SELECT ${raw(selected)} ${raw(joined)}
        WHERE webhooks.id >= ${`${paymentId}:`} AND webhooks.id < ${`${paymentId};`} ORDER BY webhooks.id`;
      return rows.map(webhookOfRow);
    }),
  };
}

/** Lists pending webhooks. Skips through the index by account, so that one account's million webhooks cost little. */
function* listWaiting(perAccount: number, exceptHosts: readonly string[]): Script<WaitingWebhook[]> {
  const rows = yield* run`
    WITH RECURSIVE waiting (account_id) AS (
      SELECT min(account_id) FROM webhooks WHERE status = 'pending'
      UNION ALL
      SELECT (SELECT min(account_id) FROM webhooks WHERE status = 'pending' AND account_id > waiting.account_id)
      FROM waiting WHERE waiting.account_id IS NOT NULL
    )
    SELECT account_id AS "accountId", (
      SELECT coalesce(json_agg(json_build_array(id, host, created_at_ms)), '[]') FROM (
        SELECT id, host, created_at_ms FROM webhooks
        WHERE status = 'pending' AND webhooks.account_id = waiting.account_id AND host <> ALL(${exceptHosts})
        ORDER BY created_at_ms, id LIMIT ${perAccount}) AS oldest
    ) AS oldest
    FROM waiting WHERE account_id IS NOT NULL`;
  return rows.flatMap(({ accountId, oldest }) => {
    const webhooks = (typeof oldest === 'string' ? JSON.parse(oldest) : oldest) as [string, string, number][];
    return webhooks.map(([id, host, createdAtMs]) => ({
      id,
      accountId: String(accountId),
      host,
      createdAtMs,
    }));
  });
}

/** Claims pending webhooks. Skips rows that another process is claiming, so that claims neither wait nor overlap. */
function* claimPending(
  ids: readonly string[],
  claimedAtMs: number,
  { fingerprints, anyCreatedBeforeMs }: ClaimableWebhooks,
): Script<Webhook[]> {
  const claimed = yield* run`
    UPDATE webhooks SET status = 'sending', claimed_at_ms = ${claimedAtMs} WHERE id IN (
      SELECT webhooks.id ${raw(joined)}
      WHERE webhooks.id = ANY(${ids}) AND webhooks.status = 'pending'
        AND (payments.token_fingerprint = ANY(${fingerprints}) OR webhooks.created_at_ms < ${anyCreatedBeforeMs})
      FOR UPDATE OF webhooks SKIP LOCKED)
    RETURNING id`;
  const rows = yield* run`
    SELECT ${raw(selected)} ${raw(joined)} WHERE webhooks.id = ANY(${claimed.map(({ id }) => String(id))})
    ORDER BY webhooks.created_at_ms, webhooks.id`;
  return rows.map(webhookOfRow);
}

function webhookOfRow(row: Row): Webhook {
  const stored = webhookTable.ofRow(row);
  const { httpStatus, reason, durationMs, responseExcerpt, body, signature, finishedAtMs, ...queued } =
    stored;
  const attempt = { httpStatus, reason, durationMs, responseExcerpt, body, signature, finishedAtMs };
  const isWaiting = queued.status === 'pending' || queued.status === 'sending';
  return {
    ...queued,
    url: String(row['callback_url']),
    tokenFingerprint: String(row['token_fingerprint']),
    sealedSecrets: row['secrets'] === null ? [] : textsOf(row['secrets']),
    result: isWaiting ? null : ({ outcome: queued.status, ...attempt } as WebhookResult),
  };
}
