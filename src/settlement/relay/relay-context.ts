import type { PaymentId } from '../../payment/payment.ts';
import type { PaymentStore } from '../../payment/payment-store.ts';
import type { RelayLimits } from '../batch-and-gas-limits.ts';
import type { Relayer, TokenReader } from '../chain/chain.ts';
import type { ObservationStore, RelayStore } from '../settlement-store.ts';

export interface RelayContext
  extends Readonly<{ payments: PaymentStore; observations: ObservationStore; relay: RelayStore }> {
  readonly relayer: Relayer;
  readonly token: TokenReader;
  readonly nowMs: () => number;
  readonly limits: RelayLimits;
  readonly memory: ReturnType<typeof createRelayMemory>;
  /** Runs `follow` while holding the lease of the relayer's key. Skips `follow` if a sender already holds the lease. */
  readonly withRelayerLease: (relayer: string, follow: () => Promise<void>) => Promise<void>;
  /** Reports an incident to the operator; must not throw. */
  readonly onIncident: (incident: RelayIncident) => void;
}

export const relayPasses = [
  'idle',
  'collecting',
  'refused',
  'deferred',
  'opened',
  'waiting',
  'rebroadcast',
  'bumped',
  'replaced',
  'filled',
  'resolved',
  'abandoned',
] as const;
export type RelayPass = (typeof relayPasses)[number];

export const relayIncidentKinds = [
  // The batch is mined and final, but some of its payments still hold money. They are retried with growing delays.
  'no_op_batch',
  // Another transaction was mined with the batch's nonce. The releases are retried shortly.
  'displaced_batch',
  // A smaller batch took the nonce, because the batch was refused, not mined in time, or too dear at higher fees.
  'replaced_batch',
  // Nonces before the first open batch were missing on the chain. A transfer to the relayer itself uses up each one.
  'filled_gap',
  // At current fees, the gas of these releases costs a larger share than the operator allows.
  'deferred_releases',
  // The whole batch would fail, so it is sent with fewer payments.
  'halved_batch',
  // Batches of a former relayer key.
  'retired_batch_resolved',
  'retired_batch_abandoned',
] as const;

export interface RelayIncident {
  readonly kind: (typeof relayIncidentKinds)[number];
  readonly batchId?: number;
  readonly relayer?: string;
  readonly paymentIds?: readonly PaymentId[];
  readonly fromPayments?: number;
  readonly toPayments?: number;
  readonly fromNonce?: number;
  readonly toNonce?: number;
}

/** Creates the sender's state between passes, which may be lost with the process. */
export function createRelayMemory() {
  return {
    /** Time when a batch's nonce gap, or its lack of a sender, was first seen, by batch id. */
    firstSeenMs: new Map<number, number>(),
    /** Time when a batch was first seen as the next to be mined, by batch id. */
    headSinceMs: new Map<number, number>(),
    /** Maximum payments in the next batch, lowered after a failed estimate or batch; null for the configured limit. */
    largestBatch: null as number | null,
    /** Last time that a batch was made smaller because every node refused it. */
    refusedAtMs: null as number | null,
  };
}
