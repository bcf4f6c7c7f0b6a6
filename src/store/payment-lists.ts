import { checksumAddressBytes } from '../payment/address.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import { AFTER_ALL_IDS } from '../payment/payment-id.ts';
import type { PaymentFilter, PaymentStore } from '../payment/payment-store.ts';
import { selectPayments } from './payments.ts';
import { hasRow, run, runForOne, type Script, type Scripts, sql } from './scripts.ts';

/** Payments that a filtered list reads before it yields to the event loop. */
const WINDOW = 1_000;

/** Payments above an id; `end` is null after the last window. */
interface Window {
  readonly payments: readonly Payment[];
  readonly end: string | null;
}

export function createPaymentLists({
  read,
}: Scripts): Pick<
  PaymentStore,
  | 'listDepositAddresses'
  | 'findNewest'
  | 'listPayments'
  | 'listByOrigin'
  | 'listPaymentIds'
  | 'listOpenFingerprints'
> {
  const nextWindow = read(readWindow);
  const nextFingerprints = read(readFingerprints);
  const readUnderWay = read(readFingerprintsUnderWay);
  return {
    async listPayments(filter, before, limit) {
      let window: Window = { payments: [], end: before ?? AFTER_ALL_IDS };
      const payments: Payment[] = [];
      while (window.end !== null && payments.length < limit) {
        window = await nextWindow(filter, window.end, limit - payments.length);
        payments.push(...window.payments);
      }
      return payments;
    },
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
    async listOpenFingerprints(after) {
      const found = new Set<string>(await readUnderWay());
      for (let from: string | null = after; from !== null; ) {
        const { fingerprints, end }: FingerprintWindow = await nextFingerprints(from);
        for (const fingerprint of fingerprints) found.add(fingerprint);
        from = end;
      }
      return [...found];
    },
  };
}

interface FingerprintWindow {
  readonly fingerprints: readonly string[];
  /** Null after the last window. */
  readonly end: string | null;
}

/** Fingerprints of payments of any age with an open release or webhook, which are few and indexed. */
function* readFingerprintsUnderWay(): Script<readonly string[]> {
  const rows = yield* run`
    SELECT token_fingerprint FROM payments
    WHERE forward_status = 'ready' OR forward_status = 'processing'
      OR forward_status = 'failed' OR forward_status = 'manual_required'
    UNION SELECT token_fingerprint FROM webhooks JOIN payments ON payments.id = webhooks.payment_id
    WHERE webhooks.status = 'pending'`;
  return rows.map((row) => row['token_fingerprint'] as string);
}

/** Reads upwards in windows, because several days of payments can be many. */
function* readFingerprints(after: string): Script<FingerprintWindow> {
  const last = yield* runForOne<{ id: string }>`
    SELECT id FROM payments WHERE id > ${after} ORDER BY id LIMIT 1 OFFSET ${WINDOW - 1}`;
  const rows = yield* run`
    SELECT DISTINCT token_fingerprint FROM payments
    WHERE id > ${after} AND id <= ${last?.id ?? AFTER_ALL_IDS}
      AND forward_status <> 'completed' AND forward_status <> 'canceled'`;
  return { fingerprints: rows.map((row) => row['token_fingerprint'] as string), end: last?.id ?? null };
}

/** Reads one window, so that a filter without matches does not block the event loop. */
function* readWindow({ accountId, status }: PaymentFilter, below: string, limit: number): Script<Window> {
  const ofAccount = accountId === undefined ? sql`` : sql`AND account_id = ${accountId}`;
  const last = yield* runForOne<{ id: string }>`
    SELECT id FROM payments WHERE id < ${below} ${ofAccount} ORDER BY id DESC LIMIT 1 OFFSET ${WINDOW - 1}`;
  const end = last?.id ?? null;
  const inStatus = status === undefined ? sql`` : sql`AND status = ${status}`;
  const payments = yield* selectPayments`
    FROM payments WHERE id < ${below} AND id >= ${end ?? ''} ${ofAccount} ${inStatus}
    ORDER BY id DESC LIMIT ${limit}`;
  return { payments, end };
}
