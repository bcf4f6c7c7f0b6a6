import type { PaymentStore } from '../payment/payment-store.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import type { LeaseStore } from '../settlement/settlement-store.ts';
import type { Stores } from './stores.ts';

/** Parts of an engine that serves several processes. */
export interface SharedStore {
  readonly leases: LeaseStore;
  /** Counts requests of a kind for all processes together; closed with the store. */
  createRateLimiter(kind: string, requestsPerMinute: number): RateLimiter;
}

/** The ports of the store; one engine implements all of them over one database. */
export interface Store extends Stores {
  /** Coordination of several processes with the same data; null where one process has the data for itself. */
  readonly shared: SharedStore | null;
  /** Finishes what was asked for before, then lets go of the database. Later calls reject (`StoreClosedError`). */
  close(): Promise<void>;
}

/** What each engine does in its own way of the payments; the rest are scripts. */
export type EnginePayments = Pick<
  PaymentStore,
  'createPayment' | 'findIdempotent' | 'findPayment' | 'findDepositOwners'
>;

/** Limits that every engine keeps alike. */

/** Maximum past cursors that are stored, for finding the block where a rewound chain still agrees. */
export const MAXIMUM_CHECKPOINTS = 200;

/** Expired idempotency records deleted for each that is added: more than one, so that the table shrinks to the valid ones. */
export const PURGED_PER_RECORD = 4;
