import type { PaymentReference } from '../domain/payment.ts';
import type { ReceiptEnding, ReceiptStore } from '../domain/ports/receipt-store.ts';
import { lock, run, type Script, type Scripts } from './script.ts';
import { checkListLimit } from './store-limits.ts';

/** Of several processes one claims at a time. */
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
    ...[sinceMs, limit],
  )) as unknown as PaymentReference[];
  for (const { accountId, id } of waiting) {
    yield* run(
      `UPDATE receipts SET status = 'sending', claimed_at_ms = ?1 WHERE account_id = ?2 AND payment_id = ?3`,
      ...[nowMs, accountId, id],
    );
  }
  return waiting.map(({ accountId, id }) => ({ accountId, id }));
}

function* record({ accountId, id }: PaymentReference, ending: ReceiptEnding, nowMs: number): Script<void> {
  yield* run(
    `UPDATE receipts SET status = ?1, finished_at_ms = ?2
     WHERE account_id = ?3 AND payment_id = ?4 AND status = 'sending'`,
    ...[ending, ending === 'pending' ? null : nowMs, accountId, id],
  );
}
