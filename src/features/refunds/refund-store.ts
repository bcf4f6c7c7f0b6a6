import type { PaymentId } from '../../payment/payment.ts';
import type { BlockReference } from '../../settlement/settlement-store.ts';
import type { Refund, RefundDecision, RefundReference, RefundView } from './refund.ts';

/** Decides on a refund under the lock of all refunds. Null leaves it unchanged. */
export type DecideRefund = (view: RefundView) => RefundDecision | null;

type Place = Pick<Refund, 'createdAtMs' | 'id'>;

/** A change and its event are one transaction, and a transfer belongs to at most one refund. */
export interface RefundStore {
  /** Stores a refund, or resolves to the earlier one of its `Idempotency-Key`, also under concurrent calls. */
  createRefund(draft: Refund, decide: (view: RefundView) => RefundDecision, nowMs: number): Promise<Refund>;
  /** Null if the refund does not exist, or if its transfer belongs to another. Throws `ScanRefusedError`. */
  changeRefund(
    refund: RefundReference,
    decide: DecideRefund,
    nowMs: number,
    readUpTo?: BlockReference,
  ): Promise<Refund | null>;
  findRefund(accountId: string, id: string): Promise<Refund | null>;
  /** Finds a refund of any account, for a caller that has checked the token. */
  findRefundOfLink(id: string): Promise<Refund | null>;
  listRefunds(id: PaymentId): Promise<readonly Refund[]>;
  /** Refunds of an account, newest first, after `before`. */
  listAccountRefunds(accountId: string, before: Place, limit: number): Promise<readonly Refund[]>;
  /** Sum of paid refunds by payment id; payments without any are omitted. */
  sumPaidRefunds(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>;
  /** Refunds that wait for a transfer and expire after this time, oldest scan first. */
  listWatchedRefunds(expiresAfterMs: number, limit: number): Promise<readonly Refund[]>;
  isTransferCounted(transactionHash: string, logIndex: number): Promise<boolean>;
  /** Records that blocks were searched for these refunds. Throws `ScanRefusedError`. */
  recordRefundScan(ids: readonly string[], scannedBlock: number, readUpTo: BlockReference): Promise<void>;
}
