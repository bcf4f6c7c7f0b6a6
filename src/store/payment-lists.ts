import { checksumAddressBytes } from '../payment/address.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { AFTER_ALL_IDS } from '../payment/payment-id.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import { selectPayments } from './payments.ts';
import { hasRow, run, runForOne, type Script, type Scripts, sql } from './scripts.ts';

export function createPaymentLists({ read }: Scripts) {
  return {
    listPayments: read(({ accountId, status }, before, limit) => {
      const ofAccount = accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`;
      const inStatus = status === undefined ? sql`` : sql`AND status = ${status}`;
      return selectPayments`
        FROM payments WHERE id < ${before ?? AFTER_ALL_IDS} ${ofAccount} ${inStatus}
        ORDER BY id DESC LIMIT ${limit}`;
    }),
    listDepositAddresses: read(function* (after, limit, unpaidAmong) {
      if (unpaidAmong !== undefined) {
        const place = sql`ORDER BY id LIMIT 1 OFFSET ${unpaidAmong}`;
        if (yield* hasRow`SELECT 1 FROM payments WHERE id > ${after} ${place}`) return null;
      }
      const ofUnpaid = unpaidAmong === undefined ? sql`` : sql`AND status = 'unpaid'`;
      const rows = yield* run`
        SELECT deposit_address FROM payments WHERE id > ${after} ${ofUnpaid}
        ORDER BY id LIMIT ${limit + 1}`;
      if (rows.length > limit) return null;
      return rows.map((row) => checksumAddressBytes(row['deposit_address'] as Uint8Array));
    }),
    findNewest: read(
      () => runForOne<Pick<Payment, 'id' | 'tokenFingerprint'>>`
        SELECT id, token_fingerprint AS "tokenFingerprint" FROM payments ORDER BY id DESC LIMIT 1`,
    ),
    listByOrigin: read(
      (accountId, origin, limit) => selectPayments`
        FROM payments WHERE account_id = ${accountId} AND origin = ${origin}
        ORDER BY id DESC LIMIT ${limit}`,
    ),
    listPaymentIds: read(function* (after, below, limit) {
      const rows = yield* run`
        SELECT id FROM payments WHERE id > ${after} AND id < ${below} ORDER BY id LIMIT ${limit}`;
      return rows.map(({ id }) => id as PaymentId);
    }),
    listPastDeadline: read(function* (deadlineMs, sessionEndMs, limit) {
      const rows = yield* run`
        SELECT id FROM payments
        WHERE deadline_ms <= ${deadlineMs} AND status = 'unpaid' AND forward_status = 'pending' AND NOT EXISTS (
          SELECT 1 FROM provider_sessions AS session
          WHERE session.payment_id = payments.id AND session.expires_at_ms > ${sessionEndMs})
        ORDER BY deadline_ms LIMIT ${limit}`;
      return rows.map(({ id }) => id as PaymentId);
    }),
    listOpenFingerprints: read(readOpenFingerprints),
  } satisfies Partial<PaymentStore>;
}

/** Returns fingerprints of open payments above this id, and of all with an unsettled release or pending webhook. */
function* readOpenFingerprints(after: string): Script<readonly string[]> {
  const rows = yield* run`
    SELECT token_fingerprint FROM payments
    WHERE id > ${after} AND forward_status <> 'completed' AND forward_status <> 'canceled'
    UNION SELECT token_fingerprint FROM payments
    WHERE forward_status = 'ready' OR forward_status = 'processing'
      OR forward_status = 'failed' OR forward_status = 'manual_required'
    UNION SELECT token_fingerprint FROM webhooks JOIN payments ON payments.id = webhooks.payment_id
    WHERE webhooks.status = 'pending'`;
  return rows.map((row) => row['token_fingerprint'] as string);
}
