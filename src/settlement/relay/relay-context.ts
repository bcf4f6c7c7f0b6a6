import type { PaymentId } from '../../payment/payment.ts';
import type { PaymentStore } from '../../payment/payment-store.ts';
import type { Relayer, TokenReader } from '../chain/chain.ts';
import type { GasShareLimit } from '../gas-balance.ts';
import type { ObservationStore, RelayStore } from '../settlement-store.ts';

export interface RelayContext
  extends Readonly<{ payments: PaymentStore; observations: ObservationStore; relay: RelayStore }> {
  readonly relayer: Relayer;
  readonly token: TokenReader;
  readonly nowMs: () => number;
  readonly limits: RelayLimits;
  readonly memory: ReturnType<typeof createRelayMemory>;
  /**
   * Runs `follow` in the place of another relayer's sender, if that relayer has none at this moment, and keeps one from
   * beginning meanwhile.
   */
  readonly withRelayerLease: (relayer: string, follow: () => Promise<void>) => Promise<void>;
  /** Told what an operator should know of; must not throw. */
  readonly onIncident: (incident: RelayIncident) => void;
}

/** The limits where the operator sets none. */
export const defaultRelayLimits = {
  /** Batches of one key that are not mined: nodes keep 16 executable transactions of an account for certain. */
  maximumUnmined: 16,
  /** Open batches of one key. A mined one stays open until it is final. */
  maximumOpen: 64,
  /** Releases in one transaction. */
  batchSize: 100,
  /** Time for which the first due release waits for others to share its transaction. */
  batchWindowMs: 0,
  /** Time before an attempt's fees are compared with the latest quote. */
  bumpAfterMs: 15_000,
  /** Fees are never raised above this, in wei per gas. */
  maximumFeePerGas: 5_000n * 10n ** 9n,
  /** The most that the gas limit of one transaction may cost, in wei: nodes refuse what exceeds a cap of their own. */
  maximumTransactionFeeWei: 10n ** 18n,
  /** Releases whose share of the gas costs more wait for lower fees; null for none. */
  gasShare: null as GasShareLimit | null,
  /** Time for which the first batch in flight may stay unmined before another one takes its nonce. */
  minedPatienceMs: 600_000,
  /** Time to wait for a gap before our first nonce to close, from its first sight, before it is filled. */
  nonceGapPatienceMs: 30_000,
  /** Time after its last attempt for which a batch of a former key is rebroadcast before it is abandoned. */
  retiredPatienceMs: 600_000,
};

export type RelayLimits = Readonly<typeof defaultRelayLimits>;

/** The result of a pass. */
export type RelayPass =
  | 'idle'
  | 'collecting'
  | 'refused'
  | 'deferred'
  | 'opened'
  | 'waiting'
  | 'rebroadcast'
  | 'bumped'
  | 'replaced'
  | 'filled'
  | 'resolved'
  | 'abandoned';

/** Incidents of the relay, for log and metrics. */
export type RelayIncident =
  /** Finally mined, and these payments still hold what it was to release; they are tried again later and later. */
  | { readonly kind: 'no_op_batch'; readonly batchId: number; readonly paymentIds: readonly PaymentId[] }
  /** Another transaction was mined with its nonce; what it was to release is tried again shortly. */
  | { readonly kind: 'displaced_batch'; readonly batchId: number; readonly paymentIds: readonly PaymentId[] }
  /** Every node refused it, it was not mined in time, or its fees had to rise above what may be spent. */
  | {
      readonly kind: 'replaced_batch';
      readonly batchId: number;
      readonly fromPayments: number;
      readonly toPayments: number;
    }
  /** Nonces before the first open batch were missing on the chain; a transfer to the relayer itself spends each. */
  | { readonly kind: 'filled_gap'; readonly fromNonce: number; readonly toNonce: number }
  /** At present fees their gas costs a larger share of them than the operator allows. */
  | { readonly kind: 'deferred_releases'; readonly paymentIds: readonly PaymentId[] }
  /** As a whole it would fail: fewer payments are sent. */
  | { readonly kind: 'halved_batch'; readonly fromPayments: number; readonly toPayments: number }
  /** A batch of a relayer address that is no longer ours came to its end. */
  | {
      readonly kind: 'retired_batch_resolved' | 'retired_batch_abandoned';
      readonly batchId: number;
      readonly relayer: string;
    };

/** State of the sender between passes, which may be lost with the process. */
export function createRelayMemory() {
  return {
    /** Time at which the condition that delays a batch was first seen, by batch id. */
    firstSeenMs: new Map<number, number>(),
    /** Time at which a batch was first seen as the one to be mined next, by batch id. */
    headSinceMs: new Map<number, number>(),
    /** Payments in the next batch at most; smaller than the limit after an estimate or a batch failed. Null: the limit. */
    largestBatch: null as number | null,
    /** Last time at which every node refused a batch for its size. */
    refusedAtMs: null as number | null,
  };
}

/** Forgets a batch that is closed. */
export function forgetBatch({ firstSeenMs, headSinceMs }: RelayContext['memory'], batchId: number): void {
  firstSeenMs.delete(batchId);
  headSinceMs.delete(batchId);
}
