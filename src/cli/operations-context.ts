import type { Account } from '../accounts/account.ts';
import type { AccountStore, AuditStore, PeopleStore, SessionStore } from '../accounts/account-store.ts';
import type { EmailStore } from '../mail/mail.ts';
import type { Address } from '../payment/address.ts';
import type { DirectPaymentRequest } from '../payment/create-payment.ts';
import type { EventStore } from '../payment/event-store.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import type { PaymentSearchStore } from '../payment/payment-search-store.ts';
import type { PaymentStore } from '../payment/payment-store.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { Rates } from '../payment/rates.ts';
import type { Pictures } from '../platform/pictures.ts';
import type { ProviderDescriptions } from '../providers/provider.ts';
import type { ProviderDirectory } from '../providers/provider-availability.ts';
import type { VerifiedChain } from '../settlement/chain/chain.ts';
import type { ObservationStore, RelayStore, SettlementStore } from '../settlement/settlement-store.ts';
import type { CallbackGuard, CheckEndpoint } from '../webhooks/delivery-types.ts';
import type { WebhookStore } from '../webhooks/webhook.ts';
import type { FeatureRecords } from './verify/verify-context.ts';

/** The providers; `adapters` is null without a running server, which alone knows their credentials. */
export type OperatorDirectory = Pick<ProviderDirectory, 'settings' | 'evidence' | 'isOffByDefault'> & {
  readonly adapters: ProviderDirectory['adapters'] | null;
};

/** Dependencies for creating payments, in a running server. */
export interface DirectPayments {
  create(account: Account, request: DirectPaymentRequest): Promise<Payment>;
  /** Creates a checkout like the card API. */
  createCheckout(account: Account, request: DirectPaymentRequest): Promise<Payment>;
  ipnTokenOf(payment: Payment): string;
  readonly token: Address;
  /** Base URL of the pages, without a trailing slash. */
  readonly baseUrl: string;
}

/** Dependencies of the commands: a running server's parts, or only the opened store. */
export interface OperationsContext
  extends Readonly<{
      accounts: AccountStore;
      people: PeopleStore;
      sessions: SessionStore;
      audit: AuditStore;
      payments: PaymentStore;
      emails: EmailStore;
      webhooks: WebhookStore;
    }>,
    Readonly<{
      search: Pick<PaymentSearchStore, 'searchPayments' | 'listHistories'>;
      observations: Pick<
        ObservationStore,
        'listCheckpoints' | 'listEntries' | 'listEntriesOf' | 'listFolded' | 'readCursor' | 'rewindTo'
      >;
      events: Pick<EventStore, 'listEvents'>;
      featureRecords: FeatureRecords;
      relay: Pick<RelayStore, 'listOpenBatches'>;
      settlements: Pick<SettlementStore, 'listSettlements'>;
    }> {
  readonly providerDescriptions: ProviderDescriptions;
  readonly callbacks: CallbackGuard;
  readonly pictures: Pictures;
  /** Null without a running server. */
  readonly checkEndpoint: CheckEndpoint | null;
  /** Null without a connected chain. */
  readonly chain: VerifiedChain | null;
  readonly directory: OperatorDirectory;
  /** Absent if the store was opened without a server. */
  readonly rates?: Rates;
  /** Records whether a provider's answers differ from those recorded, and how. Absent without a server. */
  readonly noteDrift?: (provider: ProviderId, text: string | null) => void;
  readonly nowMs: () => number;
  readonly isTestMode: boolean;
  /** Public URL of the service, for links. */
  readonly baseUrl: string;
  /** URL of the admin server, for links to the operator's console. */
  readonly adminBaseUrl: string;
  /** Null without a relayer, when the store was opened without a server. */
  readonly rescue: ((id: PaymentId, token: `0x${string}`) => Promise<string>) | null;
  /** Null in live mode and without a running server. */
  readonly sandboxOperations: SandboxOperations | null;
  /** Null without a running server. */
  readonly direct: DirectPayments | null;
}

/** An operation of the command line; its result is printed. */
export type Operation = (context: OperationsContext, args: OperationArguments) => Promise<unknown>;

/** Operations provided by the sandbox only. */
export const sandboxOperationNames = [
  'sandbox pay',
  'sandbox refund',
  'sandbox fault',
  'trigger',
  'listen',
] as const;
export type SandboxOperations = Readonly<Record<(typeof sandboxOperationNames)[number], Operation>>;

/** Arguments of an operation on the control socket: texts and switches by option name. */
export type OperationArguments = Readonly<Record<string, string | boolean | undefined>>;
