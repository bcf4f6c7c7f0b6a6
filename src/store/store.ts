import type { PaymentStore } from '../payment/payment-store.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import type { LeaseStore } from '../settlement/settlement-store.ts';
import type { Stores } from './stores.ts';

/** Parts of an engine that serves several processes. */
export interface SharedStore {
  readonly leases: LeaseStore;
  /** Counts requests of a kind across all processes; closed with the store. */
  createRateLimiter(kind: string, requestsPerMinute: number): RateLimiter;
}

/** Ports of the store, all implemented by one engine on one database. */
export interface Store extends Stores {
  /** Coordination of processes that share the data; null for an engine with a single process. */
  readonly shared: SharedStore | null;
  /** Finishes earlier calls, then closes the database. Later calls reject (`StoreClosedError`). */
  close(): Promise<void>;
}

/** Payment methods that each engine implements itself; the rest are scripts. */
export type EnginePayments = Pick<
  PaymentStore,
  'createPayment' | 'findIdempotent' | 'findPayment' | 'findDepositOwners'
>;

/** Limits of both engines. */

/** Maximum stored cursors, among which a rewound chain's last common block is searched. */
export const MAXIMUM_CHECKPOINTS = 200;

/** Expired idempotency records deleted per added one: more than one, so that the table shrinks to the valid ones. */
export const PURGED_PER_RECORD = 4;
