import type { RateLimiter } from '../platform/rate-limiter.ts';
import type { TakeSharedCall } from '../providers/outgoing-limiter.ts';
import type { LeaseStore } from '../settlement/settlement-store.ts';

/** Parts of an engine that serves several processes. */
export interface SharedStore {
  /** Counts the calls that have a connection, and those that wait for one. */
  countCalls(): { readonly running: number; readonly waiting: number };
  readonly leases: LeaseStore;
  /** Counts requests of a kind across all processes; closed with the store. */
  createRateLimiter(kind: string, requestsPerMinute: number): RateLimiter;
  /** Counts calls to providers across all processes. */
  readonly takeProviderCall: TakeSharedCall;
}

/** Maximum stored cursors, among which a rewound chain's last common block is searched. */
export const MAXIMUM_CHECKPOINTS = 200;

/** Expired idempotency records deleted per added one. More than one, so that the table shrinks to the valid ones. */
export const PURGED_PER_RECORD = 4;
