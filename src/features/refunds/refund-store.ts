import type { PaymentId } from '../../payment/payment.ts';
import type { BlockReference } from '../../settlement/settlement-store.ts';
import type { Refund, RefundDecision, RefundReference, RefundView } from './refund.ts';

/** Decides on a refund under the lock of all refunds. Null leaves it unchanged. */
export type DecideRefund = (view: RefundView) => RefundDecision | null;

/** A change and its event are one transaction, and a transfer belongs to at most one refund. */
export interface RefundStore {
  /**
   * Stores a new refund. Resolves to the earlier refund if its `Idempotency-Key` opened one within
   * `IDEMPOTENCY_TTL_MS`, also under concurrent calls.
   */
  createRefund(draft: Refund, decide: (view: RefundView) => RefundDecision, nowMs: number): Promise<Refund>;
  /**
   * Resolves to the changed refund; null if it does not exist, or if its transfer belongs to another refund, in which
   * case nothing changes. Throws `ScanRefusedError` if the chain was since rewound below `readUpTo`.
   *
   * @param readUpTo cursor up to which the chain was read, if the decision depends on the chain
   */
  changeRefund(
    refund: RefundReference,
    decide: DecideRefund,
    nowMs: number,
    readUpTo?: BlockReference,
  ): Promise<Refund | null>;
  findRefund(accountId: string, id: string): Promise<Refund | null>;
  /** Finds a refund of any account, for a caller that has checked the token. */
  findRefundOfLink(id: string): Promise<Refund | null>;
  /** Refunds of a payment, oldest first. */
  listRefunds(id: PaymentId): Promise<readonly Refund[]>;
  /** Sum of paid refunds by payment id; payments without any are omitted. */
  sumPaidRefunds(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>;
  /** Refunds that wait for a transfer and expire after this time, oldest scan first. */
  listWatchedRefunds(expiresAfterMs: number, limit: number): Promise<readonly Refund[]>;
  isTransferCounted(transactionHash: string, logIndex: number): Promise<boolean>;
  /**
   * Records that the blocks up to this one were searched for these refunds. Throws `ScanRefusedError` if the chain was
   * since rewound below `readUpTo`, up to which it was read.
   */
  recordRefundScan(ids: readonly string[], scannedBlock: number, readUpTo: BlockReference): Promise<void>;
}
