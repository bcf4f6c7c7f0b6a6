import type { ChainReader, SweepBalances } from '../../domain/ports/chain.ts';
import type { LedgerStore } from '../../domain/ports/ledger-store.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import type { RelayStore } from '../../domain/ports/relay-store.ts';
import type { SettlementStore } from '../../domain/ports/settlement-store.ts';
import type { WebhookStore } from '../../domain/ports/webhook-store.ts';

/** The chain as a verification asks it. */
export interface VerifiedChain {
  readonly reader: Pick<ChainReader, 'withView'>;
  readonly sweepBalances: SweepBalances;
}

export interface VerifyContext {
  readonly payments: Pick<
    PaymentStore,
    'findPaymentById' | 'listPaymentIds' | 'listPayments' | 'viewPayment'
  >;
  readonly ledger: Pick<LedgerStore, 'listMovements' | 'listMovementsOf' | 'readCursor'>;
  readonly webhooks: Pick<WebhookStore, 'listWebhooks'>;
  readonly relay: Pick<RelayStore, 'listOpenBatches'>;
  readonly settlements: Pick<SettlementStore, 'listSettlements'>;
  /** Null: the database is compared with itself alone. */
  readonly chain: VerifiedChain | null;
  readonly nowMs: () => number;
  /** Between two looks at a payment that does not agree: long enough for what is under way to be written. */
  readonly pause: () => Promise<void>;
}
