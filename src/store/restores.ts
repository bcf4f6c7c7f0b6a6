import { hasRow, raw, run, runForOne, type Script, type Scripts, sql } from './scripts.ts';
import type { StoredFeature } from './stored-feature.ts';

/**
 * SQL that marks a database as restored. The row in `watermarks` holds '' until the chain's height at the restore is
 * known. It then holds this height and, after a space, the time at which the scan reached the height.
 */
export const MARK_RESTORED = `INSERT INTO watermarks (name, payment_id) VALUES ('restored', '')
  ON CONFLICT (name) DO UPDATE SET payment_id = ''`;

export const RESTORED = "(SELECT payment_id FROM watermarks WHERE name = 'restored')";

/** Returns the newest block at the restore; until it is known, a maximum. Returns undefined without a restore. */
export function restoredBlockOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  return text === '' ? Number.MAX_SAFE_INTEGER : Number(text.split(' ')[0]);
}

/** Records when a scan first reaches the newest block at the restore. */
export function* noteCaughtUp(finalBlock: number, nowMs: number): Script<void> {
  const text = yield* readRestored();
  if (text === null || text.includes(' ') || finalBlock < (restoredBlockOf(text) ?? 0)) return;
  yield* run`UPDATE watermarks SET payment_id = ${`${text} ${nowMs}`} WHERE name = 'restored'`;
}

/** Returns the time until which events may repeat those from before a restore; 0 without a restore. */
export function* quietUntilMs(): Script<number> {
  const text = yield* readRestored();
  return text === null ? 0 : Number(text.split(' ')[1] ?? Number.MAX_SAFE_INTEGER);
}

function* readRestored(): Script<string | null> {
  return (yield* runForOne<{ text: string | null }>`SELECT ${raw(RESTORED)} AS text`)?.text ?? null;
}

export function createRestoreStore(
  { read, write }: Scripts,
  nowMs: () => number,
  features: readonly StoredFeature[],
) {
  return {
    markRestored: write(function* () {
      yield* run`${raw(MARK_RESTORED)}`;
    }),
    /** Returns whether the database is marked as restored, but the chain's height is not recorded yet. */
    isPending: read(function* () {
      return (yield* readRestored()) === '';
    }),
    /** Records the height. Gives up pending webhooks, pending receipts, and receipts requested for expired payments. */
    recordHeight: write(function* (block: number, expiredBeforeMs: number) {
      const isFirst = yield* hasRow`
        UPDATE watermarks SET payment_id = ${String(block)} WHERE name = 'restored' AND payment_id = '' RETURNING name`;
      if (!isFirst) return;
      yield* giveUpWebhooks(sql`status = 'pending'`, 'restored', nowMs());
      yield* run`
        UPDATE receipts SET status = 'failed', email = NULL WHERE status = 'pending' OR status = 'wanted'
          AND (SELECT created_at_ms < ${expiredBeforeMs} OR deadline_ms < ${nowMs()} FROM payments WHERE id = payment_id)`;
      for (const feature of features) yield* feature.restored?.(nowMs()) ?? [];
    }),
  };
}

/** Gives up webhooks that were due before a restore, and the receipts queued in the same transaction. */
export function* giveUpSent(webhookIds: readonly string[], nowMs: number): Script<void> {
  if (webhookIds.length === 0) return;
  yield* giveUpWebhooks(sql`id = ANY(${webhookIds})`, 'restored', nowMs);
  const payments = webhookIds.map((id) => id.slice(0, id.indexOf(':')));
  yield* run`
    UPDATE receipts SET status = 'failed', email = NULL WHERE payment_id = ANY(${payments}) AND status = 'pending'`;
}

/** Marks webhooks as `unknown`, because they may have been sent. Returns their number. */
export function* giveUpWebhooks(
  condition: ReturnType<typeof sql>,
  reason: 'interrupted' | 'restored',
  nowMs: number,
): Script<number> {
  const given = yield* run`
    UPDATE webhooks SET status = 'unknown', reason = ${reason}, claimed_at_ms = coalesce(claimed_at_ms, ${nowMs}),
      duration_ms = 0, response_excerpt = '', finished_at_ms = ${nowMs} WHERE ${condition} RETURNING id`;
  return given.length;
}
