import type { Account } from '../accounts/account.ts';
import type { Address } from '../payment/address.ts';
import type { DirectPaymentRequest } from '../payment/create-payment.ts';
import type { Rates } from '../payment/money.ts';
import type { Payment, PaymentId } from '../payment/payment.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { Pictures } from '../platform/pictures.ts';
import type { OnProgress } from '../platform/progress.ts';
import type { ProviderDescriptions } from '../providers/provider.ts';
import type { ProviderDirectory } from '../providers/provider-availability.ts';
import type { VerifiedChain } from '../settlement/chain/chain.ts';
import type { CoreStore } from '../store/assemble-core.ts';
import type { CallbackGuard, CheckEndpoint } from '../webhooks/delivery-types.ts';
import type { FeatureRecords } from './verify/verify-context.ts';

/** Provider directory whose `adapters` are null without a running server, because only a server has credentials. */
export type OperatorDirectory = Pick<ProviderDirectory, 'settings' | 'evidence' | 'isOffByDefault'> & {
  readonly adapters: ProviderDirectory['adapters'] | null;
};

export interface DirectPayments {
  create(account: Account, request: DirectPaymentRequest): Promise<Payment>;
  createCheckout(account: Account, request: DirectPaymentRequest): Promise<Payment>;
  ipnTokenOf(payment: Payment): string;
  readonly token: Address;
  /** Fingerprint of the secret of new ipn_tokens. */
  readonly tokenFingerprint: string;
}

type PeopleStores = 'accounts' | 'people' | 'sessions' | 'audit';
type PaymentStores = 'payments' | 'emails' | 'webhooks' | 'search' | 'events';
type ChainStores = 'observations' | 'relay' | 'restores' | 'settlements';

/** Dependencies of the operations: parts of a running server, or only the opened store. */
export interface OperationsContext extends Pick<CoreStore, PeopleStores | PaymentStores | ChainStores> {
  readonly featureRecords: FeatureRecords;
  readonly providerDescriptions: ProviderDescriptions;
  readonly callbacks: CallbackGuard;
  readonly pictures: Pictures;
  /** Null without a running server. */
  readonly checkEndpoint: CheckEndpoint | null;
  /** Null without a connected chain. */
  readonly chain: VerifiedChain | null;
  readonly directory: OperatorDirectory;
  /** Absent without a running server. */
  readonly rates?: Rates;
  /** Records how a provider's answers differ from the recorded ones; null if they match. Absent without a server. */
  readonly noteDrift?: (provider: ProviderId, text: string | null) => void;
  readonly nowMs: () => number;
  readonly onProgress?: OnProgress | undefined;
  readonly isTestMode: boolean;
  /** Public URL of the pages, without a trailing slash. */
  readonly baseUrl: string;
  readonly adminBaseUrl: string;
  /** Null without a running server, because only a server has the relayer. */
  readonly rescue: ((id: PaymentId, token: `0x${string}`) => Promise<string>) | null;
  /** Null in live mode or without a running server. */
  readonly sandboxOperations: SandboxOperations | null;
  /** Null without a running server. */
  readonly direct: DirectPayments | null;
}

export type Operation = (context: OperationsContext, args: OperationArguments) => Promise<unknown>;

export const sandboxOperationNames = ['sandbox pay', 'sandbox fault', 'trigger', 'listen'] as const;
/** Sandbox operations of the core and of features. */
export type SandboxOperations = Readonly<
  Record<(typeof sandboxOperationNames)[number], Operation> & Record<`sandbox ${string}`, Operation>
>;

/** Arguments of an operation, as sent over the control socket: texts and switches by option name. */
export type OperationArguments = Readonly<Record<string, string | boolean | undefined>>;
