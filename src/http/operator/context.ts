import type { PaymentId } from '../../domain/payment-id.ts';
import type { Address } from '../../domain/payout-address.ts';
import type { CallbackGuard } from '../../domain/ports/callback-guard.ts';
import type { ChainReader, Relayer } from '../../domain/ports/chain.ts';
import type { LedgerStore } from '../../domain/ports/ledger-store.ts';
import type { PaymentSearchStore } from '../../domain/ports/payment-search-store.ts';
import type { PaymentStore } from '../../domain/ports/payment-store.ts';
import type { RelayStore } from '../../domain/ports/relay-store.ts';
import type { ProviderDirectory } from '../../payments/provider-availability.ts';
import type { AreaContext, AreaRoutes } from '../dashboard/context.ts';

/** What the console's pages need. A page that needs more adds it here. */
export interface OperatorContext extends AreaContext {
  readonly callbacks: CallbackGuard;
  readonly directory: ProviderDirectory;
  readonly payments: PaymentStore;
  readonly search: Pick<PaymentSearchStore, 'listUnsettled' | 'listTroubledWebhooks'>;
  readonly ledger: Pick<LedgerStore, 'readCursor'>;
  readonly relay: Pick<RelayStore, 'listOpenBatches'>;
  readonly chain: Pick<ChainReader, 'withView'>;
  readonly relayer: Pick<Relayer, 'address' | 'readGasBalance' | 'quoteFees'>;
  /** Sends a wrong token to the payment's merchant; resolves to the hash of the transaction. */
  readonly rescue: (id: PaymentId, token: Address) => Promise<string>;
  /** Where customers and merchants reach the service, and the documentation is; without a slash at the end. */
  readonly publicUrl: string;
  /** Whether who is at this address may speak plain HTTP: a password in clear text is as good as lost. */
  readonly isTrustedPeer: (address: string) => boolean;
}

/** Where pages of the console are registered (`operator-page.ts` says how). */
export interface OperatorRoutes extends AreaRoutes {
  readonly context: OperatorContext;
}
