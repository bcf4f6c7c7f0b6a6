import type { PaymentId } from '../../payment/payment.ts';
import { textWithoutEmail } from '../../payment/redact-email.ts';
import { IDEMPOTENCY_TTL_MS } from '../../payment/retention-periods.ts';
import type { Table } from '../../store/columns.ts';
import { requireCheckpoint } from '../../store/observations.ts';
import { hasRow, lock, run, type Script, type Scripts, tablesIn } from '../../store/scripts.ts';
import type { StoredFeature } from '../../store/stored-feature.ts';
import { unnumberedEventTable } from '../../store/tables.ts';
import {
  noTransfer,
  type Refund,
  type RefundEventType,
  type RefundReference,
  type RefundStore,
  type RefundView,
  TRANSFER_MS,
} from './refund.ts';

const tables: Table[] = [];
const table = tablesIn(tables);

const refundTable = table<Refund>('refunds', ['id'])({
  text: [
    'id',
    'accountId',
    'paymentId',
    'reason',
    'status',
    'idempotencyKey',
    'fingerprint',
    'destination',
    'submittedHash',
    'transactionProblem',
    'sender',
    'transactionHash',
  ],
  integer: ['createdAtMs', 'expiresAtMs', 'scannedBlock', 'logIndex', 'blockNumber', 'paidAtMs'],
  amount: ['units'],
});

/** Lock that serializes changes of refunds, including rewinds, so that no transfer pays two refunds. */
const REFUND_LOCK = 'refunds';

export function createRefundStore({ read, write }: Scripts): RefundStore {
  return {
    createRefund: write(function* (draft, decide, nowMs) {
      yield* lock(REFUND_LOCK);
      const earlier = yield* findByKey(draft, nowMs);
      if (earlier !== null) return earlier;
      const { refund, event } = decide(yield* viewRefund(draft));
      yield* refundTable.insert(refund);
      yield* addEvent(refund, event, nowMs);
      return refund;
    }),
    changeRefund: write(function* (reference, decide, nowMs, readUpTo) {
      yield* lock(REFUND_LOCK);
      if (readUpTo !== undefined) yield* requireCheckpoint(readUpTo);
      const before = yield* find(reference);
      if (before === null) return null;
      const decision = decide(yield* viewRefund(before));
      if (decision === null) return before;
      const { refund, event } = decision;
      const { transactionHash, logIndex } = refund;
      const isBooked = before.transactionHash === null && transactionHash !== null && logIndex !== null;
      if (isBooked && (yield* isCounted(transactionHash, logIndex))) return null;
      yield* refundTable.update(refund);
      yield* addEvent(refund, event, nowMs);
      return refund;
    }),
    findRefund: read((accountId, id) => find({ accountId, id })),
    findRefundOfLink: read((id) => refundTable.selectOne`WHERE id = ${id}`),
    listRefunds: read(listOf),
    listAccountRefunds: read(
      (accountId, { createdAtMs, id }, limit) => refundTable.select`
        WHERE account_id = ${accountId} AND (created_at_ms, id) < (${createdAtMs}, ${id})
        ORDER BY created_at_ms DESC, id DESC LIMIT ${limit}`,
    ),
    listWatchedRefunds: read(
      (expiresAfterMs, limit) => refundTable.select`
        WHERE status = 'awaiting_transfer' AND expires_at_ms > ${expiresAfterMs}
        ORDER BY scanned_block, id LIMIT ${limit}`,
    ),
    sumPaidRefunds: read(function* (accountId, paymentIds) {
      const sums = new Map<string, bigint>();
      const paid = yield* refundTable.select`
        WHERE account_id = ${accountId} AND payment_id = ANY(${paymentIds}) AND status = 'paid'`;
      for (const { paymentId, units } of paid) sums.set(paymentId, (sums.get(paymentId) ?? 0n) + units);
      return sums;
    }),
    isTransferCounted: read(isCounted),
    recordRefundScan: write(function* (ids, scannedBlock, readUpTo) {
      yield* lock(REFUND_LOCK);
      yield* requireCheckpoint(readUpTo);
      yield* run`
        UPDATE refunds SET scanned_block = ${scannedBlock}
        WHERE id = ANY(${ids}) AND status = 'awaiting_transfer'`;
    }),
  };
}

function find({ accountId, id }: RefundReference): Script<Refund | null> {
  return refundTable.selectOne`WHERE account_id = ${accountId} AND id = ${id}`;
}

function* findByKey({ accountId, idempotencyKey }: Refund, nowMs: number): Script<Refund | null> {
  if (idempotencyKey === null) return null;
  return yield* refundTable.selectOne`
    WHERE idempotency_key = ${idempotencyKey} AND account_id = ${accountId}
      AND created_at_ms > ${nowMs - IDEMPOTENCY_TTL_MS}`;
}

function listOf(id: PaymentId): Script<Refund[]> {
  return refundTable.select`WHERE payment_id = ${id} ORDER BY created_at_ms, id`;
}

function* viewRefund(refund: Refund): Script<RefundView> {
  const { id, paymentId, destination } = refund;
  const ofPayment = yield* listOf(paymentId);
  const toAddress = yield* refundTable.select`
    WHERE destination = ${destination} AND status = 'awaiting_transfer'`;
  const isOther = (other: Refund) => other.id !== id;
  return { refund, others: ofPayment.filter(isOther), rivals: toAddress.filter(isOther) };
}

function isCounted(transactionHash: string, logIndex: number): Script<boolean> {
  return hasRow`
    SELECT id FROM refunds WHERE transaction_hash = ${transactionHash} AND log_index = ${logIndex}`;
}

function* addEvent(
  { id, accountId, paymentId }: Pick<Refund, 'id' | 'accountId' | 'paymentId'>,
  type: RefundEventType | null,
  nowMs: number,
): Script<void> {
  if (type === null) return;
  yield* unnumberedEventTable.insertRows([[accountId, paymentId, type, id, nowMs]]);
}

/** Makes refunds whose transfers a reorganization removed await the transfer again. */
function* revertRefundsAbove(blockNumber: number, nowMs: number): Script<void> {
  yield* lock(REFUND_LOCK);
  const reverted = yield* refundTable.select`WHERE status = 'paid' AND block_number > ${blockNumber}`;
  for (const refund of reverted) {
    // Keeps the hash as submitted, so that the transfer is found in another block even if its amount differs.
    const submittedHash = refund.transactionHash;
    const expiresAtMs = nowMs + TRANSFER_MS;
    yield* refundTable.update({
      ...refund,
      ...noTransfer,
      submittedHash,
      expiresAtMs,
      status: 'awaiting_transfer',
    });
    yield* addEvent(refund, 'refund.transfer_reverted', nowMs);
  }
  yield* run`
    UPDATE refunds SET scanned_block = ${blockNumber}
    WHERE status = 'awaiting_transfer' AND scanned_block > ${blockNumber}`;
}

/** Erases an email address from reasons. Keeps the wallet address, which is public and shows where the money went. */
function* eraseFromRefunds(id: PaymentId, email: string): Script<void> {
  const refunds = yield* refundTable.select`
    WHERE payment_id = ${id} AND reason IS NOT NULL`;
  for (const refund of refunds) {
    yield* refundTable.update({ ...refund, reason: textWithoutEmail(refund.reason ?? '', email) });
  }
}

export const storedRefunds: StoredFeature = {
  schema: new URL('schema.sql', import.meta.url),
  tables,
  revertedAbove: revertRefundsAbove,
  emailErased: eraseFromRefunds,
  erasureLock: REFUND_LOCK,
};
