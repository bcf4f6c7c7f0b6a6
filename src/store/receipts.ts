import type { ClaimedReceipt, ReceiptStatus, ReceiptStore } from '../mail/mail.ts';
import { selectPayment } from './payments.ts';
import { lock, lockPayments, run, runForOne, type Scripts, sql } from './scripts.ts';
import { receiptTable } from './tables.ts';

/** Lock held while receipts are claimed and while their email addresses are erased. */
export const CLAIM_LOCK = 'receipts';

export function createReceiptStore({ read, write }: Scripts): ReceiptStore {
  return {
    claimReceipts: write(function* (sinceMs, limit, nowMs) {
      yield* lock(CLAIM_LOCK);
      const claimed = yield* run`
        UPDATE receipts SET status = 'sending', claimed_at_ms = ${nowMs} WHERE payment_id IN (
          SELECT payment_id FROM receipts WHERE status = 'pending' AND created_at_ms >= ${sinceMs}
          ORDER BY created_at_ms LIMIT ${limit}) RETURNING payment_id AS id, email, language`;
      return claimed as unknown as ClaimedReceipt[];
    }),
    recordReceipt: write(function* (id, ending, nowMs) {
      const isOver = ending !== 'pending';
      yield* run`
        UPDATE receipts SET status = ${ending}, finished_at_ms = ${isOver ? nowMs : null}${isOver ? sql`, email = NULL` : sql``}
        WHERE payment_id = ${id} AND status = 'sending'`;
    }),
    askForReceipt: write(function* (id, { email, language }, nowMs) {
      yield* lockPayments([id]);
      const payment = yield* selectPayment(id);
      if (payment === null || payment.email !== null) return;
      const status = payment.status === 'unpaid' ? 'wanted' : 'pending';
      yield* receiptTable.insertRows([[id, status, null, null, nowMs, null, null]], { keepsExisting: true });
      yield* run`
        UPDATE receipts SET status = ${status}, email = ${email}, language = ${language}, created_at_ms = ${nowMs}
        WHERE payment_id = ${id} AND status IN ('wanted', 'pending')`;
    }),
    findReceiptStatus: read(function* (id) {
      const found = yield* runForOne<{ status: ReceiptStatus }>`
        SELECT status FROM receipts WHERE payment_id = ${id}`;
      return found?.status ?? null;
    }),
    eraseAddresses: write(function* (nowMs, sentByMs, givenBeforeMs, limit) {
      // Queues receipts that version 0.1.0 failed to queue when the payment ended, or recorded as sent without sending.
      yield* run`
        UPDATE receipts SET status = 'pending', created_at_ms = ${nowMs}
        WHERE email IS NOT NULL AND status IN ('wanted', 'sent') AND (SELECT status FROM payments WHERE id = payment_id) <> 'unpaid'`;
      const erased = yield* run`
        UPDATE receipts SET status = 'failed', email = NULL WHERE payment_id IN (
          SELECT payment_id FROM receipts WHERE email IS NOT NULL AND created_at_ms < ${sentByMs} AND (status <> 'wanted' OR created_at_ms < ${givenBeforeMs})
          ORDER BY created_at_ms LIMIT ${limit}) RETURNING payment_id`;
      return erased.length;
    }),
  };
}
