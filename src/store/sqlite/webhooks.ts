import type { DatabaseSync } from 'node:sqlite';
import { UnknownStateError } from '../../domain/errors.ts';
import type { WebhookStore } from '../../domain/ports/settlement-store.ts';
import type { WaitingWebhook, Webhook } from '../../domain/webhook.ts';
import { checkListLimit } from '../store.ts';
import { byAge, type WebhookRow, webhookColumns, webhookOfRow } from '../webhook-rows.ts';
import type { GroupCommit, GroupRead } from './group-commit.ts';

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
     WHERE id = ? AND status = 'pending' RETURNING id`,
  );
  const nextAccount = database.prepare(
    `SELECT account_id AS "accountId" FROM webhooks WHERE status = 'pending' AND account_id > ?
     ORDER BY account_id LIMIT 1`,
  );
  const waitingOfAccount = database.prepare(
    `SELECT id, account_id AS "accountId", host, created_at_ms AS "createdAtMs" FROM webhooks
     WHERE status = 'pending' AND account_id = ? AND host NOT IN (SELECT value FROM json_each(?))
     ORDER BY created_at_ms, id LIMIT ?`,
  );
  const selectOne = database.prepare(`${selectWebhookSql} WHERE webhooks.id = ?`);
  const selectOfPayment = database.prepare(
    `${selectWebhookSql} WHERE webhooks.id >= ? AND webhooks.id < ? ORDER BY webhooks.id`,
  );
  const finish = database.prepare(
    `UPDATE webhooks SET status = ?, http_status = ?, reason = ?, duration_ms = ?, response_excerpt = ?, body = ?,
       signature = ?, finished_at_ms = ? WHERE id = ? AND account_id = ? AND status = 'sending'`,
  );
  const abandon = database.prepare(
    `UPDATE webhooks SET status = 'unknown', reason = 'interrupted', duration_ms = 0, response_excerpt = '',
       finished_at_ms = ? WHERE status = 'sending' AND claimed_at_ms < ?`,
  );

  function readOne(id: string): Webhook {
    return webhookOfText(selectOne.get(id) as unknown as TextRow);
  }

  return {
    listWaitingWebhooks: (perAccount, exceptHosts) =>
      reads.run(() => {
        checkListLimit(perAccount);
        const hosts = JSON.stringify(exceptHosts);
        const waiting: WaitingWebhook[] = [];
        // From account to account by the index: it takes no longer where one of them has a million waiting.
        for (let last = ''; ; ) {
          const found = nextAccount.get(last);
          if (found === undefined) return waiting;
          last = found.accountId as string;
          for (const row of waitingOfAccount.iterate(last, hosts, perAccount)) {
            waiting.push(row as unknown as WaitingWebhook);
          }
        }
      }),
    claimWebhooks: (ids, claimedAtMs) =>
      writes.runTransaction(() => {
        const claimed = ids.filter((id) => claim.get(claimedAtMs, id) !== undefined).map(readOne);
        return claimed.sort(byAge);
      }),
    recordWebhookResult: ({ id, accountId }, result) =>
      writes.runStatement(() => {
        const { changes } = finish.run(
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
