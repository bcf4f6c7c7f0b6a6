import type { AccountStore, AuditStore, PeopleStore, SessionStore } from '../accounts/account-store.ts';
import type { RecordStore } from '../accounts/record-store.ts';
import type { EmailStore, ReceiptStore } from '../mail/mail.ts';
import type { EventStore } from '../payment/event-store.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import type { TakeSharedCall } from '../providers/outgoing-limiter.ts';
import type { ProviderStore, VisitStore } from '../providers/provider.ts';
import type {
  LeaseStore,
  ObservationStore,
  RelayStore,
  SettlementStore,
} from '../settlement/settlement-store.ts';
import type { WebhookStore } from '../webhooks/webhook.ts';

/** Parts of an engine that serves several processes. */
export interface SharedStore {
  readonly leases: LeaseStore;
  /** Counts requests of a kind across all processes; closed with the store. */
  createRateLimiter(kind: string, requestsPerMinute: number): RateLimiter;
  /** Counts calls to providers across all processes. */
  readonly takeProviderCall: TakeSharedCall;
}

/** Ports to all data of the core, by name, all implemented by one engine on one database. */
export interface CoreStore {
  readonly accounts: AccountStore;
  readonly payments: PaymentStore;
  readonly search: PaymentSearchStore;
  readonly observations: ObservationStore;
  readonly relay: RelayStore;
  readonly webhooks: WebhookStore;
  readonly emails: EmailStore;
  readonly receipts: ReceiptStore;
  readonly records: RecordStore;
  readonly events: EventStore;
  readonly providers: ProviderStore;
  readonly visits: VisitStore;
  readonly settlements: SettlementStore;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  /** Coordination of processes that share the data; null for an engine with a single process. */
  readonly shared: SharedStore | null;
  /** Finishes earlier calls, then closes the database. Later calls reject (`StoreClosedError`). */
  close(): Promise<void>;
}

/** Maximum stored cursors, among which a rewound chain's last common block is searched. */
export const MAXIMUM_CHECKPOINTS = 200;

/** Expired idempotency records deleted per added one. More than one, so that the table shrinks to the valid ones. */
export const PURGED_PER_RECORD = 4;
