import type { PaymentId } from '../../payment/payment.ts';
import type { PaymentStore } from '../../payment/payment-store.ts';
import type { Relayer, TokenReader } from '../chain/chain.ts';
import type { GasShareLimit } from '../chain/gas.ts';
import type { ObservationStore, RelayStore } from '../settlement-store.ts';

export interface RelayContext
  extends Readonly<{ payments: PaymentStore; observations: ObservationStore; relay: RelayStore }> {
  readonly relayer: Relayer;
  readonly token: TokenReader;
  readonly nowMs: () => number;
  readonly limits: RelayLimits;
  readonly memory: ReturnType<typeof createRelayMemory>;
  /**
   * Runs `follow` in place of another relayer's sender, if that relayer has none now, and keeps one from starting
   * meanwhile.
   */
  readonly withRelayerLease: (relayer: string, follow: () => Promise<void>) => Promise<void>;
  /** Reports an incident to the operator; must not throw. */
  readonly onIncident: (incident: RelayIncident) => void;
}

/** Limits that apply unless the operator sets others. */
export const defaultRelayLimits = {
  /** Unmined batches of one key: nodes guarantee to keep 16 executable transactions of an account. */
  maximumUnmined: 16,
  /** Open batches of one key. A mined one stays open until it is final. */
  maximumOpen: 64,
  batchSize: 100,
  /** Time for which the first due release waits for others to share its transaction. */
  batchWindowMs: 0,
  /** Time before an attempt's fees are compared with the latest quote. */
  bumpAfterMs: 15_000,
  /** Maximum fee in wei per gas. */
  maximumFeePerGas: 5_000n * 10n ** 9n,
  /** Maximum cost of one transaction's gas limit, in wei: nodes refuse more than their own cap. */
  maximumTransactionFeeWei: 10n ** 18n,
  /** Releases whose share of the gas exceeds it wait for lower fees; null for no limit. */
  gasShare: null as GasShareLimit | null,
  /** Time for which the first batch in flight may stay unmined before another one takes its nonce. */
  minedPatienceMs: 600_000,
  /** Time for which a gap before our first nonce may close by itself before it is filled. */
  nonceGapPatienceMs: 30_000,
  /** Time after its last attempt for which a batch of a former key is rebroadcast before it is abandoned. */
  retiredPatienceMs: 600_000,
};

export type RelayLimits = Readonly<typeof defaultRelayLimits>;

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
  /** Mined and final, but these payments still hold money; they are retried with growing delays. */
  | { readonly kind: 'no_op_batch'; readonly batchId: number; readonly paymentIds: readonly PaymentId[] }
  /** Another transaction was mined with its nonce; its releases are retried shortly. */
  | { readonly kind: 'displaced_batch'; readonly batchId: number; readonly paymentIds: readonly PaymentId[] }
  /** Every node refused it, it was not mined in time, or its fees had to rise above the limit. */
  | {
      readonly kind: 'replaced_batch';
      readonly batchId: number;
      readonly fromPayments: number;
      readonly toPayments: number;
    }
  /** Nonces before the first open batch were missing on the chain; a transfer to the relayer itself spends each. */
  | { readonly kind: 'filled_gap'; readonly fromNonce: number; readonly toNonce: number }
  /** At present fees their gas costs a larger share than the operator allows. */
  | { readonly kind: 'deferred_releases'; readonly paymentIds: readonly PaymentId[] }
  /** The whole batch would fail, so fewer payments are sent. */
  | { readonly kind: 'halved_batch'; readonly fromPayments: number; readonly toPayments: number }
  /** A batch of a former relayer key was resolved or abandoned. */
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
    /** Time at which a batch was first seen as the next to be mined, by batch id. */
    headSinceMs: new Map<number, number>(),
    /** Maximum payments in the next batch, lowered after an estimate or a batch failed. Null: the configured limit. */
    largestBatch: null as number | null,
    /** Last time at which every node refused a batch for its size. */
    refusedAtMs: null as number | null,
  };
}
