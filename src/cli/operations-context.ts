import type { Account } from '../domain/account.ts';
import type { Payment } from '../domain/payment.ts';
import type { PaymentId } from '../domain/payment-id.ts';
import type { Address } from '../domain/payout-address.ts';
import type { AccountStore, AuditStore, PeopleStore } from '../domain/ports/account-store.ts';
import type { CallbackGuard } from '../domain/ports/callback-guard.ts';
import type { EmailStore } from '../domain/ports/mail.ts';
import type { PaymentSearchStore } from '../domain/ports/payment-search-store.ts';
import type { PaymentStore, SessionStore } from '../domain/ports/payment-store.ts';
import type { ProviderDescriptions, Rates } from '../domain/ports/provider.ts';
import type {
  ObservationStore,
  RelayStore,
  SettlementStore,
  WebhookStore,
} from '../domain/ports/settlement-store.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import type { DirectPaymentRequest } from '../payments/create-direct-payment.ts';
import type { ProviderDirectory } from '../payments/provider-availability.ts';
import type { VerifiedChain } from '../payments/verify/verify-context.ts';

/** The sandbox's operations; absent in live mode. */
export interface SandboxControls {
  /**
   * Simulates the customer to the end of the on-ramp, or, for a direct payment, with a wallet of the local chain;
   * resolves when the transfer is sent.
   */
  pay(
    payment: Payment,
    provider: string | null,
    deliveryUnits: bigint | null,
  ): Promise<{ readonly provider: string; readonly transactionHash: string; readonly deliveryUnits: bigint }>;
  setProviderFault(provider: ProviderId, fault: ProviderFault): Promise<void>;
  setFault(target: 'rates' | 'chain', fault: Fault): Promise<void>;
  /** Creates a checkout as the card API does. */
  createCheckout(account: Account, request: DirectPaymentRequest): Promise<Payment>;
  /** Copies of the events after the cursor, as soon as there are any; see `EventFeed`. */
  readEvents(cursor: string | null): Promise<{
    readonly cursor: string;
    readonly missed: number;
    readonly events: readonly {
      readonly url: string;
      readonly body: string;
      readonly signature: string;
      readonly atMs: number;
    }[];
  }>;
  /** The default account of payments, and the default address of their events. */
  readonly defaults: { readonly accountId: string; readonly callbackUrl: string };
}

export const faults = ['up', 'slow', 'down'] as const;
export type Fault = (typeof faults)[number];

/** The faults of a simulated on-ramp and their descriptions. */
export const providerFaults = {
  up: 'end the fault',
  down: 'no answer',
  slow: 'responses time out',
  refuse: 'every quote and every card is declined',
  less: 'half of the quoted USDC arrives',
  late: 'the USDC arrives after 20 seconds',
  twice: 'the USDC arrives twice',
  'wrong-token': 'a token other than USDC arrives',
  'notices-repeated': 'each webhook is sent at least six times',
  'notices-reversed': 'webhooks are delayed and sent in reverse order',
  'notices-lost': 'no webhook is sent',
  'notices-forged': 'webhooks have a forged signature',
} as const;
export type ProviderFault = keyof typeof providerFaults;

/** The providers; only a running server knows which of them have credentials, else `adapters` is null. */
export type OperatorDirectory = Pick<ProviderDirectory, 'settings'> & {
  readonly adapters: ProviderDirectory['adapters'] | null;
};

/** Dependencies for creating a direct payment, in a running server. */
export interface DirectPayments {
  create(account: Account, request: DirectPaymentRequest): Promise<Payment>;
  ipnTokenOf(payment: Payment): string;
  /** The contract of USDC. */
  readonly token: Address;
  /** The base URL of the pages, without a slash at the end. */
  readonly baseUrl: string;
}

/** Dependencies of the commands: a running server's parts, or only the opened store. */
export interface OperationsContext {
  readonly providerDescriptions: ProviderDescriptions;
  readonly accounts: AccountStore;
  readonly callbacks: CallbackGuard;
  readonly people: PeopleStore;
  readonly sessions: SessionStore;
  readonly audit: AuditStore;
  readonly payments: PaymentStore;
  readonly search: Pick<PaymentSearchStore, 'searchPayments'>;
  readonly observations: Pick<ObservationStore, 'listEntries' | 'listEntriesOf' | 'readCursor'>;
  readonly emails: EmailStore;
  readonly webhooks: WebhookStore;
  readonly relay: Pick<RelayStore, 'listOpenBatches'>;
  readonly settlements: Pick<SettlementStore, 'listSettlements'>;
  /** Null without a connected chain. */
  readonly chain: VerifiedChain | null;
  readonly directory: OperatorDirectory;
  /** Absent if the store was opened without a server. */
  readonly rates?: Rates;
  readonly nowMs: () => number;
  /** The public address of the service, for links. */
  readonly baseUrl: string;
  /** Null without a relayer (the store was opened without a server). */
  readonly rescue: ((id: PaymentId, token: `0x${string}`) => Promise<string>) | null;
  readonly sandbox: SandboxControls | null;
  /** Null without a running server. */
  readonly direct: DirectPayments | null;
}

/** One operation of the command line; its result is printed. */
export type Operation = (context: OperationsContext, args: OperationArguments) => Promise<unknown>;

/** Arguments of an operation on the control socket: text and switches by their option's name. */
export type OperationArguments = Readonly<Record<string, string | boolean | undefined>>;
