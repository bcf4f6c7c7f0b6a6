import type { AccountStore, AuditStore, PeopleStore } from '../domain/ports/account-store.ts';
import type { EventStore } from '../domain/ports/event-store.ts';
import type { AlertStore, EmailStore, ReceiptStore } from '../domain/ports/mail.ts';
import type { PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { PaymentStore, SessionStore } from '../domain/ports/payment-store.ts';
import type { ProviderStore, VisitStore } from '../domain/ports/provider.ts';
import type { RateLimiter } from '../domain/ports/rate-limiter.ts';
import type { RefundStore } from '../domain/ports/refund-store.ts';
import type {
  AddressPageStore,
  LeaseStore,
  ObservationStore,
  RelayStore,
  SettlementStore,
  WebhookStore,
} from '../domain/ports/settlement-store.ts';

/** Parts of an engine that serves several processes. */
export interface SharedStore {
  readonly leases: LeaseStore;
  /** Counts requests of a kind for all processes together; closed with the store. */
  createRateLimiter(kind: string, requestsPerMinute: number): RateLimiter;
}

/** Everything that is kept, behind the ports; one engine implements all of them over one database. */
export interface Store {
  readonly accounts: AccountStore;
  readonly payments: PaymentStore;
  readonly search: PaymentSearchStore;
  readonly addressPages: AddressPageStore;
  readonly observations: ObservationStore;
  readonly relay: RelayStore;
  readonly webhooks: WebhookStore;
  readonly emails: EmailStore;
  readonly receipts: ReceiptStore;
  readonly alerts: AlertStore;
  readonly events: EventStore;
  readonly refunds: RefundStore;
  readonly providers: ProviderStore;
  readonly visits: VisitStore;
  readonly settlements: SettlementStore;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  /** Coordination of several processes with the same data; null where one process has the data for itself. */
  readonly shared: SharedStore | null;
  /** Finishes what was asked for before, then lets go of the database. Later calls reject (`StoreClosedError`). */
  close(): Promise<void>;
}

/** What each engine does in its own way of the payments; the rest are scripts. */
export type EnginePayments = Omit<
  PaymentStore,
  'listPayments' | 'listPaymentIds' | 'decidePayment' | 'addSession' | 'recordSessionProgress'
>;

/** Limits that every engine keeps alike. */

/** Maximum past cursors that are stored, for finding the block where a rewound chain still agrees. */
export const MAXIMUM_CHECKPOINTS = 200;

/** Expired idempotency records deleted for each that is added: more than one, so that the table shrinks to the valid ones. */
export const PURGED_PER_RECORD = 4;

/** Sorts after every id. */
export const AFTER_ALL_IDS = '~';
