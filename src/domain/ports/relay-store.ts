import type { Payment } from '../payment.ts';
import type { PaymentId } from '../payment-id.ts';
import type { Decide } from './payment-store.ts';

/** One signed form of a relay transaction; a fee bump adds another with the same nonce. */
export interface RelayAttempt {
  readonly hash: string;
  /** The signed bytes, `0x…`; after a crash these same bytes are broadcast again. */
  readonly rawTransaction: string;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly signedAtMs: number;
}

/** What the relayer has in flight: one nonce, the payments it carries, and every attempt that was signed. */
export interface RelayBatch {
  readonly id: number;
  readonly relayer: string;
  readonly nonce: number;
  readonly kind: 'forward' | 'rescue';
  /** For `rescue`: the token's address, or the zero address for POL. */
  readonly rescueToken: string | null;
  readonly gasLimit: bigint;
  readonly paymentIds: readonly PaymentId[];
  readonly attempts: readonly RelayAttempt[];
  readonly createdAtMs: number;
}

export interface RelayStore {
  /**
   * Claims for this relayer payments whose release is due at `nowMs`, that no batch carries and no other relayer has
   * claimed, and returns them, the earliest due time first; also those that are due further ahead than any delay is
   * long (`release-delays.ts`), because then the clock was set back. A claim lasts `durationMs` by the store's own
   * clock and keeps other relayers from preparing the same release. That no two batches carry a payment is
   * promised by `openBatch`.
   */
  claimDueReleases(
    relayer: string,
    nowMs: number,
    limit: number,
    durationMs: number,
  ): Promise<readonly Payment[]>;
  /** Ends all claims of this relayer. */
  dropClaims(relayer: string): Promise<void>;
  /** The batch that is still in flight for this relayer; there is at most one. */
  findOpenBatch(relayer: string): Promise<RelayBatch | null>;
  /**
   * The nonce after the relayer's newest batch, when that one was resolved: a node that lags may count fewer
   * transactions. Null where only the chain can tell: before the first batch, while one is in flight, and after one
   * that was given up, because its nonce may be free.
   */
  findNextNonce(relayer: string): Promise<number | null>;
  /** The batches that are still in flight, of whatever relayer, the oldest first. */
  listOpenBatches(limit: number): Promise<readonly RelayBatch[]>;
  /**
   * Commits the batch with its first signed attempt, marks its payments as carried by it (for `forward`) and
   * decides them. Only then may it be broadcast. Throws when the relayer already has an open batch.
   */
  openBatch(batch: Omit<RelayBatch, 'id'>, decide: Decide): Promise<RelayBatch>;
  /** Commits another signed attempt (fee bump) of an open batch, before it is broadcast. */
  addAttempt(batchId: number, attempt: RelayAttempt): Promise<void>;
  /**
   * Closes an open batch and opens another one in its place, in one commit: with the same relayer and nonce, and with
   * payments of the first one only. Frees the other payments, and decides all payments of the first batch. Throws
   * `RangeError` for a batch that is no such replacement.
   */
  replaceBatch(
    batchId: number,
    replacement: Omit<RelayBatch, 'id'>,
    closedAtMs: number,
    decide: Decide,
  ): Promise<RelayBatch>;
  /** The nonce is spent (or given up): frees its payments and decides them. */
  closeBatch(
    batchId: number,
    outcome: 'resolved' | 'abandoned',
    closedAtMs: number,
    decide: Decide,
  ): Promise<void>;
}
