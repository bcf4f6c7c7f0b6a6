import type { PaymentId } from '../../payment/payment.ts';
import type { BlockReference } from '../../settlement/settlement-store.ts';
import type { Refund, RefundDecision, RefundReference, RefundView } from './refund.ts';

/** Decides on a refund under the lock of all refunds; null leaves it as it is. */
export type DecideRefund = (view: RefundView) => RefundDecision | null;

/** Refunds. A change and its event are one transaction, and one transfer is stored with one refund at most. */
export interface RefundStore {
  /**
   * Stores a new refund as it is decided. Resolves to the earlier refund where its `Idempotency-Key` opened one within
   * `IDEMPOTENCY_TTL_MS`, also under concurrent calls.
   */
  createRefund(draft: Refund, decide: (view: RefundView) => RefundDecision, nowMs: number): Promise<Refund>;
  /**
   * Resolves to the refund as it is afterwards; null where there is none, or where its transfer is stored with another
   * refund, which then changes nothing.
   *
   * @param readUpTo where the decision rests on the chain: the cursor up to which it was read
   * @throws ScanRefusedError when the chain was rewound below it since
   */
  changeRefund(
    refund: RefundReference,
    decide: DecideRefund,
    nowMs: number,
    readUpTo?: BlockReference,
  ): Promise<Refund | null>;
  findRefund(accountId: string, id: string): Promise<Refund | null>;
  /** Of any account. For a caller whose token was checked. */
  findRefundOfLink(id: string): Promise<Refund | null>;
  /** Refunds of a payment, the oldest first. */
  listRefunds(id: PaymentId): Promise<readonly Refund[]>;
  /** What was refunded of each of these payments of an account; without those of which nothing was. */
  sumPaidRefunds(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>;
  /** Refunds that wait for a transfer and expire after this time, those with the oldest scan first. */
  listWatchedRefunds(expiresAfterMs: number, limit: number): Promise<readonly Refund[]>;
  /** Whether a refund has this transfer. */
  isTransferCounted(transactionHash: string, logIndex: number): Promise<boolean>;
  /**
   * Notes that the blocks up to this one have been searched for these refunds.
   *
   * @param readUpTo the cursor up to which the chain was read
   * @throws ScanRefusedError when the chain was rewound below it since
   */
  recordRefundScan(ids: readonly string[], scannedBlock: number, readUpTo: BlockReference): Promise<void>;
}
