import type { AccountStore } from '../accounts/account-store.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import type { TakeSharedCall } from '../providers/outgoing-limiter.ts';
import type { LeaseStore, RelayStore, SettlementStore } from '../settlement/settlement-store.ts';
import { createRecordStore } from './accounts-and-api-keys.ts';
import { createEmailStore } from './erase-customer-data.ts';
import { createEventStore } from './events.ts';
import { createObservationStore } from './observations.ts';
import { createPaymentHistory } from './payment-history.ts';
import { createPaymentLists } from './payment-lists.ts';
import { createPaymentSearch } from './payment-search.ts';
import { createPaymentStatistics } from './payment-statistics.ts';
import {
  createDecisions,
  findDepositOwners,
  findIdempotent,
  selectPayment,
  selectPayments,
  viewPayments,
} from './payments.ts';
import { createAuditStore, createPeopleStore } from './people.ts';
import { createProviderSessions, createProviderStore, createVisitStore } from './providers.ts';
import { createReceiptStore } from './receipts.ts';
import { createRelayBatches } from './relay-batches.ts';
import { createRestoreStore } from './restores.ts';
import type { Scripts } from './scripts.ts';
import { createSessionStore } from './sessions.ts';
import type { StoredFeature } from './stored-feature.ts';
import { settlementTable } from './tables.ts';
import { createWebhookStore } from './webhooks.ts';

/** Parts that only an engine for several processes has. */
export interface SharedStore {
  /** Counts connections in use, and calls that wait for a connection. */
  countCalls(): { readonly running: number; readonly waiting: number };
  readonly leases: LeaseStore;
  /** Creates a rate limiter that counts requests of a kind across all processes. Closing the store closes it. */
  createRateLimiter(kind: string, requestsPerMinute: number): RateLimiter;
  /** Limits calls to providers across all processes. */
  readonly takeProviderCall: TakeSharedCall;
}

/** Parts that each engine implements in its own way. */
export interface EngineParts {
  readonly accounts: AccountStore;
  readonly createPayment: PaymentStore['createPayment'];
  readonly releaseClaims: Pick<RelayStore, 'claimDueReleases' | 'dropClaims'>;
  /** Coordination of processes that share a database; null for an engine with a single process. */
  readonly shared: SharedStore | null;
  /** Returns the number of bytes on disk, by part of the database. */
  readSize(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

/** Stores of all core data, which share one database. */
export type CoreStore = ReturnType<typeof assembleCore>;

const moveToFront = `ON CONFLICT (chain_id, factory, fee_wallet)
  DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`;

export function assembleCore(
  scripts: Scripts,
  nowMs: () => number,
  features: readonly StoredFeature[],
  { accounts, createPayment, releaseClaims, shared, readSize, close }: EngineParts,
) {
  const decisions = createDecisions(features, nowMs);
  const payments: PaymentStore = {
    createPayment,
    ...createPaymentLists(scripts),
    ...createProviderSessions(scripts, decisions),
    findDepositOwners: scripts.read(findDepositOwners),
    findIdempotent: scripts.read(findIdempotent),
    // Filters by account, so that another account's payment takes no longer to find than an unknown one.
    findPayment: scripts.read(function* (accountId, id) {
      const [payment] = yield* selectPayments`FROM payments WHERE id = ${id} AND account_id = ${accountId}`;
      return payment ?? null;
    }),
    findPaymentById: scripts.read(selectPayment),
    viewPayment: scripts.read(function* (id) {
      const [view] = yield* viewPayments([id]);
      return view ?? null;
    }),
    decidePayment: scripts.write(decisions.decideOne),
  };
  const search: PaymentSearchStore = {
    ...createPaymentSearch(scripts),
    ...createPaymentStatistics(scripts),
    ...createPaymentHistory(scripts),
  };
  // Reads without a cache, because only a few settlements exist.
  const settlements: SettlementStore = {
    rememberSettlement: scripts.write(function* (settlement) {
      yield* settlementTable.insert(settlement, moveToFront);
    }),
    listSettlements: scripts.read(() => settlementTable.select`ORDER BY last_started_at_ms DESC`),
  };
  let closed: Promise<void> | null = null;
  return {
    accounts,
    payments,
    search,
    observations: createObservationStore(scripts, nowMs, decisions, features),
    restores: createRestoreStore(scripts, nowMs, features),
    relay: { ...createRelayBatches(scripts, decisions), ...releaseClaims },
    webhooks: createWebhookStore(scripts, nowMs),
    emails: createEmailStore(scripts, features),
    receipts: createReceiptStore(scripts),
    records: createRecordStore(scripts),
    events: createEventStore(scripts, nowMs),
    providers: createProviderStore(scripts),
    settlements,
    people: createPeopleStore(scripts, features),
    sessions: createSessionStore(scripts),
    audit: createAuditStore(scripts),
    visits: createVisitStore(scripts),
    shared,
    readSize,
    /** Waits for earlier calls, and then closes the database. Later calls reject with `StoreClosedError`. */
    close() {
      closed ??= close();
      return closed;
    },
  };
}
