import type { AccountStore } from '../domain/ports/account-store.ts';
import type { AddressPageStore } from '../domain/ports/address-page-store.ts';
import type { AuditStore } from '../domain/ports/audit-store.ts';
import type { EmailStore } from '../domain/ports/email-store.ts';
import type { LeaseStore } from '../domain/ports/lease-store.ts';
import type { LedgerStore } from '../domain/ports/ledger-store.ts';
import type { PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { PeopleStore } from '../domain/ports/people-store.ts';
import type { ProviderStore } from '../domain/ports/provider-store.ts';
import type { RateLimiter } from '../domain/ports/rate-limiter.ts';
import type { ReceiptStore } from '../domain/ports/receipt-store.ts';
import type { RelayStore } from '../domain/ports/relay-store.ts';
import type { SessionStore } from '../domain/ports/session-store.ts';
import type { SettlementStore } from '../domain/ports/settlement-store.ts';
import type { TroubleStore } from '../domain/ports/trouble-store.ts';
import type { WebhookStore } from '../domain/ports/webhook-store.ts';

/** What only an engine has that serves several processes. */
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
  readonly ledger: LedgerStore;
  readonly relay: RelayStore;
  readonly webhooks: WebhookStore;
  readonly emails: EmailStore;
  readonly receipts: ReceiptStore;
  readonly troubles: TroubleStore;
  readonly providers: ProviderStore;
  readonly settlements: SettlementStore;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  /** What several processes with the same data agree by; null where one process has the data for itself. */
  readonly shared: SharedStore | null;
  /** Finishes what was asked for before, then lets go of the database. Later calls reject (`StoreClosedError`). */
  close(): Promise<void>;
}
