import type { Address } from '../payment/address.ts';
import type { Currency } from '../payment/money.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { PaymentMeans, ProviderId } from '../payment/provider-catalog.ts';
import type { ProviderSession, SessionProgress } from '../payment/provider-session.ts';
import type { ProviderEndpoint } from './provider-evidence.ts';
import type { VisitOutcome } from './provider-success.ts';

export interface QuoteRequest {
  readonly amountCents: number;
  readonly currency: Currency;
  /** Value of the amount in 10⁻⁶ USD. */
  readonly usdUnits: bigint;
  /** ISO 3166-1 alpha-2 code in upper case; null or absent if unknown. */
  readonly customerCountry?: string | null;
  /** Payment means that the customer chose; null or absent for the provider's default. */
  readonly means?: PaymentMeans | null;
  /** Code of a state in the United States; null or absent if unknown. */
  readonly customerState?: string | null;
  /**
   * The customer's public IP address in canonical form, if known. Absent from requests that are not for one customer. A
   * session started with an IP address is only for customers at that address.
   */
  readonly customerIp?: string | null;
  /** Account whose share of the rate limit the call uses. Not sent to the provider. */
  readonly accountId?: string;
  /** Set if no caller waits for the answer, so that the call leaves most of the rate limit to other calls. */
  readonly isBackground?: true;
}

export interface Quote {
  /** Customer's total charge including the provider's fees, in cents of the payment's currency. */
  readonly chargedCents: number;
  /** Amount that the deposit address would receive, in 10⁻⁶ USDC; null if the provider does not state it. */
  readonly deliveryUnits: bigint | null;
  /** The provider's minimum in USD cents; null if not stated. */
  readonly minimumUsdCents: number | null;
}

export interface SessionRequest extends QuoteRequest {
  readonly paymentId: PaymentId;
  readonly depositAddress: Address;
  /** The payment's email address; null if the payment has none, or if the visitor does not know the address. */
  readonly email: string | null;
  /** Reference by which the provider recognizes a customer: one per account and email address, or the payment's id. */
  readonly customerReference: string;
  /** URL of the checkout page, to which the provider returns the customer. */
  readonly returnUrl: string;
}

export type StartedSession = Pick<
  ProviderSession,
  'redirectUrl' | 'providerReference' | 'expiresAtMs' | 'quotedUnits'
> &
  Pick<Quote, 'chargedCents'>;

/** Request that claims to be a provider's webhook but is not verified yet. `body` is exactly as received. */
export interface PostedWebhook {
  readonly target: string;
  /** First value of each header, by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly receivedAtMs: number;
}

/** Content of an authentic webhook about one payment. A hint for the customer's page, never proof of payment. */
export interface ProviderWebhook {
  /** Payment id as repeated by the provider, not verified yet. */
  readonly paymentId: PaymentId;
  /** The provider's session id as returned by `startSession`; null if the webhook does not state it. */
  readonly providerReference: string | null;
  /** Wallet that the provider delivers to; it must be the payment's deposit address. Null if not stated. */
  readonly walletAddress: string | null;
  /** Contract of the delivered token; null or absent if not stated. */
  readonly tokenContract?: string | null;
  readonly progress: SessionProgress;
  /** Time of the event at the provider, or else the time of the webhook's arrival. */
  readonly atMs: number;
}

/** Error for a webhook that is forged, too old or malformed. The message is for the log, not for the sender. */
export class ProviderWebhookRefusedError extends Error {}

/** Regions that a provider is known to serve or not to serve. An absent property is unknown. */
export interface ServedRegions {
  /** The only countries that the provider serves. */
  readonly countriesServed?: ReadonlySet<string>;
  /** Countries, and states such as `US-NY`. */
  readonly regionsNotServed?: ReadonlySet<string>;
}

/** Terms in a provider's catalog for a currency and the customer's country. */
export interface CatalogEntry extends ServedRegions {
  readonly asset: string;
  /** Contract of the token that the provider delivers; null if not stated. */
  readonly tokenContract: string | null;
  /** Minimum in cents of the requested currency, like the maximum; null if not stated. */
  readonly minimumCents: number | null;
  readonly maximumCents: number | null;
}

/** Health of a provider, as observed by this process since it started. */
export interface ProviderHealth {
  /** Whether calls are skipped, except for occasional trials, after too many consecutive failures. */
  readonly isCircuitOpen: boolean;
  readonly failuresInARow: number;
  readonly lastAnswerAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  /** Message of the last failure. For the operator only, never for customers or merchants. */
  readonly lastFailure: string | null;
}

export interface RecordedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Null if the answer is long, such as a catalog of all assets, or not JSON. */
  readonly body: unknown;
}

/** Facts about a provider on the route that the operator's account uses. */
export interface ProviderTraits extends ServedRegions {
  /** Set if a session's URL works only once, so that it is never handed out again. */
  readonly opensOnce?: true;
  /** Set if the provider refuses customers whose browser does not send this service as the referrer. */
  readonly checksReferrer?: true;
  readonly needsCountry?: true;
  /** Set if sessions omit the email address: the provider has no field for it, or reuses identity checks by it. */
  readonly withholdsEmail?: true;
  /** Set if sessions should include the customer's IP address, because the provider may otherwise refuse them. */
  readonly needsIp?: true;
  /** Currencies that the provider is known to accept; absent if unknown. */
  readonly currenciesSold?: readonly Currency[];
}

/** Protocol of one on-ramp. Every call has a time limit. */
export interface ProviderAdapter extends ProviderTraits {
  readonly id: ProviderId;
  /** Other provider that runs this provider's sessions and sends their webhooks. */
  readonly routedThrough?: ProviderId;
  /** Throws `provider_unavailable` if the provider is silent, busy or declines, or `provider_inactive` if unusable. */
  quote(request: QuoteRequest): Promise<Quote>;
  /** Reads the catalog; absent if there is none. Throws the same errors as `quote`. */
  readCatalog?(request: QuoteRequest): Promise<CatalogEntry>;
  /** Reason, for the operator, why the provider cannot be used in production yet. */
  readonly blockedBecause?: string;
  readonly endpoint?: ProviderEndpoint;
  recordAnswers?<T>(answers: RecordedAnswer[], work: () => Promise<T>): Promise<T>;
  /** Starts a session, only on the customer's click. Throws the same errors as `quote`. */
  startSession(request: SessionRequest): Promise<StartedSession>;
  /**
   * Authenticates and reads a webhook, or returns null if it is not about a payment. Absent without webhooks or their
   * key. Throws `ProviderWebhookRefusedError`, `UnknownStateError`, or `provider_unavailable` if a call fails.
   */
  readWebhook?(webhook: PostedWebhook): Promise<ProviderWebhook | null>;
  health?(): ProviderHealth;
  /** Returns whether quotes fail immediately because of an outage. Absent without a circuit breaker. */
  isSkipped?(): boolean;
  readonly unguarded?: ProviderAdapter;
}

export interface ProviderDescription {
  /** Environment variables without which the provider is inactive. */
  readonly requiredVariables: readonly string[];
  /** Facts that the adapter relies on without an official source. */
  readonly unverified: readonly string[];
}
export type ProviderDescriptions = Readonly<Record<ProviderId, ProviderDescription>>;

/** Adapters of the configured providers. A provider without an adapter is inactive. */
export type ProviderAdapters = ReadonlyMap<ProviderId, ProviderAdapter>;

/** The operator's settings for a provider; null means the default. */
export interface ProviderSettings {
  /** Whether the provider is enabled. Default null: on in the sandbox, off in live mode. */
  readonly active: boolean | null;
  /** Whether the provider is at the top of the list, unless the merchant has pinned another provider. */
  readonly pinned: boolean | null;
  readonly minimumUsdCents: number | null;
}

export interface ProviderStore {
  readProviderSettings(provider: ProviderId): Promise<ProviderSettings>;
  writeProviderSettings(provider: ProviderId, change: Partial<ProviderSettings>): Promise<void>;
}

export interface VisitStore {
  /** Lists the newest visits since `sinceMs` that led to a payment, failed, or started before `decidedBeforeMs`. */
  listVisitOutcomes(
    sinceMs: number,
    decidedBeforeMs: number,
    limit: number,
  ): Promise<readonly VisitOutcome[]>;
}
