import type { DatabaseSync } from 'node:sqlite';
import { UnknownStateError } from '../../domain/errors.ts';
import type { WebhookStore } from '../../domain/ports/webhook-store.ts';
import type { Webhook } from '../../domain/webhook.ts';
import { checkListLimit } from '../store-limits.ts';
import { byAge, type WebhookRow, webhookColumns, webhookOfRow } from '../webhook-rows.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';

const selectWebhookSql = `SELECT ${webhookColumns} FROM webhooks JOIN payments ON payments.id = webhooks.payment_id`;

/** With the fields as JSON. */
type TextRow = Omit<WebhookRow, 'fields'> & { readonly fields: string };

export function createWebhookStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  nowMs: () => number,
): WebhookStore {
  const claim = database.prepare(
    `UPDATE webhooks SET status = 'sending', claimed_at_ms = ?
     WHERE id IN (SELECT id FROM webhooks WHERE status = 'pending' ORDER BY created_at_ms, id LIMIT ?)
     RETURNING id`,
  );
  const selectOne = database.prepare(`${selectWebhookSql} WHERE webhooks.id = ?`);
  const selectOfPayment = database.prepare(
    `${selectWebhookSql} WHERE webhooks.id >= ? AND webhooks.id < ? ORDER BY webhooks.id`,
  );
  const finish = database.prepare(
    `UPDATE webhooks SET status = ?, http_status = ?, reason = ?, duration_ms = ?, response_excerpt = ?, body = ?,
       signature = ?, finished_at_ms = ? WHERE id = ? AND status = 'sending'
       AND ? = (SELECT account_id FROM payments WHERE payments.id = payment_id)`,
  );
  const abandon = database.prepare(
    `UPDATE webhooks SET status = 'unknown', reason = 'interrupted', duration_ms = 0, response_excerpt = '',
       finished_at_ms = ? WHERE status = 'sending' AND claimed_at_ms < ?`,
  );

  function readOne(id: string): Webhook {
    return webhookOfText(selectOne.get(id) as unknown as TextRow);
  }

  return {
    claimWebhooks: (limit, claimedAtMs) =>
      writes.runTransaction(() => {
        checkListLimit(limit);
        const claimed = claim.all(claimedAtMs, limit).map((row) => readOne(row.id as string));
        return claimed.sort(byAge);
      }),
    recordWebhookResult: ({ id, accountId }, result) =>
      writes.runStatement(() => {
        const { changes } = finish.run(
          ...[result.outcome, result.httpStatus, result.reason, result.durationMs, result.responseExcerpt],
          ...[result.body, result.signature, result.finishedAtMs, id, accountId],
        );
        if (changes !== 1) throw new UnknownStateError(`webhook ${id} is not being sent`);
      }),
    abandonStaleWebhooks: (beforeMs) =>
      writes.runStatement(() => Number(abandon.run(nowMs(), beforeMs).changes)),
    // The ids of a payment's webhooks begin with its own and a colon; the semicolon is the next character.
    listWebhooks: (paymentId) =>
      reads.run(() =>
        (selectOfPayment.all(`${paymentId}:`, `${paymentId};`) as unknown as TextRow[]).map(webhookOfText),
      ),
  };
}

function webhookOfText(row: TextRow): Webhook {
  return webhookOfRow({ ...row, fields: JSON.parse(row.fields) as Webhook['fields'] });
}
