import type { AccountStore } from '../domain/ports/account-store.ts';
import type { LedgerStore } from '../domain/ports/ledger-store.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import type { ProviderStore } from '../domain/ports/provider-store.ts';
import type { RelayStore } from '../domain/ports/relay-store.ts';
import type { SettlementStore } from '../domain/ports/settlement-store.ts';
import type { WebhookStore } from '../domain/ports/webhook-store.ts';

/** Everything that is kept, behind the ports; one engine implements all of them over one database. */
export interface Store {
  readonly accounts: AccountStore;
  readonly payments: PaymentStore;
  readonly ledger: LedgerStore;
  readonly relay: RelayStore;
  readonly webhooks: WebhookStore;
  readonly providers: ProviderStore;
  readonly settlements: SettlementStore;
  /** Whether other processes may have the same data open at the same time. */
  readonly isShared: boolean;
  /** Finishes what was asked for before, then lets go of the database. Later calls reject (`StoreClosedError`). */
  close(): Promise<void>;
}
