import type { Currency } from '../payment/money.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { Address } from '../payment/payout-address.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { ProviderSession, SessionProgress } from '../payment/provider-session.ts';
import type { ProviderEndpoint } from './provider-evidence.ts';
import type { VisitOutcome } from './provider-success.ts';

export interface QuoteRequest {
  readonly amountCents: number;
  readonly currency: Currency;
  /** The amount's value in USD, 10⁻⁶ units. */
  readonly usdUnits: bigint;
  /** The customer's country, ISO 3166-1 alpha-2 in capitals; null or absent where it is unknown. */
  readonly customerCountry?: string | null;
  /** The account for which the provider is called: accounts share its rate limit. The provider is not told. */
  readonly accountId?: string;
}

/** A provider's quote. It is not binding. */
export interface Quote {
  /** The amount that the deposit address would receive, 10⁻⁶ USDC units; null when the provider does not say. */
  readonly deliveryUnits: bigint | null;
  /** The provider's own minimum in USD cents if it says one, else null. */
  readonly minimumUsdCents: number | null;
}

export interface SessionRequest extends QuoteRequest {
  readonly paymentId: PaymentId;
  readonly depositAddress: Address;
  /** The customer's address. Null where the payment has none, or the customer did not prove to own it. */
  readonly email: string | null;
  /**
   * The customer's IP address in its canonical form (`1.2.3.4` or compressed lower-case IPv6); null or absent where it
   * is unknown or not public. A session that was started with an address is only for customers at that address.
   */
  readonly customerIp?: string | null;
  /** The checkout page, to which the provider sends the customer back. */
  readonly returnUrl: string;
}

export type StartedSession = Pick<
  ProviderSession,
  'redirectUrl' | 'providerReference' | 'expiresAtMs' | 'quotedUnits'
>;

/** A webhook request in a provider's name, byte for byte: nothing in it is trusted before it is authenticated. */
export interface PostedWebhook {
  /** Path and query as they were asked for. */
  readonly target: string;
  /** The first value of each header, by its name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly receivedAtMs: number;
}

/** The content of an authentic webhook about one payment: a hint for the customer's page, never proof of payment. */
export interface ProviderWebhook {
  /** The payment id as the provider repeats it; not verified yet. */
  readonly paymentId: PaymentId;
  /** The provider's own id of the session, when it is the one that `startSession` returned; else null. */
  readonly providerReference: string | null;
  /** The wallet to which the provider delivers; null when it does not say. It has to be the payment's deposit address. */
  readonly walletAddress: string | null;
  /** The contract of the token that the provider delivers; null or absent when it does not say. */
  readonly tokenContract?: string | null;
  readonly progress: SessionProgress;
  /** Time of the event at the provider; of its arrival if the provider does not say. */
  readonly atMs: number;
}

/** Thrown for a webhook whose sender did not prove to be the provider, or that is too old. The message is for the log. */
export class ProviderWebhookRefusedError extends Error {
  override readonly name = 'ProviderWebhookRefusedError';
}

/** What a provider's own catalog says of USDC on Polygon. */
export interface CatalogEntry {
  /** The provider's name of the asset. */
  readonly asset: string;
  /** The contract of the delivered token; null where the catalog has none. */
  readonly tokenContract: string | null;
  /** Limits of a purchase in cents of the requested currency; null where the catalog has none. */
  readonly minimumCents: number | null;
  readonly maximumCents: number | null;
}

/** A provider's health as this process has seen it since its start. */
export interface ProviderHealth {
  /** Whether quotes or sessions failed so often in a row that calls are skipped, except for a trial from time to time. */
  readonly isCircuitOpen: boolean;
  readonly failuresInARow: number;
  readonly lastAnswerAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  /** The last failure, for the operator; never for customers or merchants. */
  readonly lastFailure: string | null;
}

/** Quotes that an adapter has cached. */
export interface CachedQuotes {
  /** A quote that is fresh or being fetched; null without one. */
  fresh(request: QuoteRequest): Promise<Quote> | null;
  /** The last quote if it expired in the last minute; null without one. */
  expired(request: QuoteRequest): Quote | null;
}

/** A provider's answer as it came, without its request. */
export interface RecordedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Null where the answer is long, such as a catalog of all assets. */
  readonly body: unknown;
}

/** One on-ramp's wire protocol. Every call is bounded in time. */
export interface ProviderAdapter {
  readonly id: ProviderId;
  /** The customer can open a session's address only once: it is never handed out a second time. */
  readonly opensOnce?: true;
  /** The provider that runs its sessions, when that is another one: the webhooks of that provider cover them as well. */
  readonly routedThrough?: ProviderId;
  /** Refuses customers whose browser does not say that they come from this service's site. */
  readonly checksReferrer?: true;
  /** Whether starting a session needs the customer's country; a quote does not. */
  readonly needsCountry?: true;
  /** The currencies that it is known to take; absent where it is asked. */
  readonly currenciesSold?: readonly Currency[];
  /** Throws `ServiceError` provider_unavailable when the provider does not answer, provider_inactive when it declines. */
  quote(request: QuoteRequest): Promise<Quote>;
  /** The adapter's cache of quotes; reading it makes no call. */
  readonly cachedQuotes?: CachedQuotes;
  /** Reads the provider's catalog; absent where none is known. Throws like `quote`. */
  readCatalog?(request: QuoteRequest): Promise<CatalogEntry>;
  /** Why it cannot be used in production yet, for the operator; absent where nothing speaks against it. */
  readonly blockedBecause?: string;
  /** Where it sends its calls; absent in tests of other parts. */
  readonly endpoint?: ProviderEndpoint;
  /** Adds the answers of the provider to the calls that the work makes to the list. */
  recordAnswers?<T>(answers: RecordedAnswer[], work: () => Promise<T>): Promise<T>;
  /** Throws like `quote`. Called only on the customer's click. */
  startSession(request: SessionRequest): Promise<StartedSession>;
  /**
   * Authenticates and understands a webhook of the provider; null for an authentic one about no payment.
   * Throws `ProviderWebhookRefusedError`, `UnknownStateError` for an authentic one with an unknown word, and
   * `ServiceError` provider_unavailable where validating it takes a call that failed. Absent where the provider sends
   * no webhooks, or its key for them is not configured.
   */
  readWebhook?(webhook: PostedWebhook): Promise<ProviderWebhook | null>;
  /** The provider's health, where a circuit breaker observes it. */
  health?(): ProviderHealth;
  /** The same adapter without the circuit breaker, where there is one. */
  readonly unguarded?: ProviderAdapter;
}

/** What is known of a provider without an account there. */
export interface ProviderDescription {
  /** The environment variables without which it is inactive. */
  readonly requiredVariables: readonly string[];
  /** Facts that the adapter relies on and no official source confirms. */
  readonly unverified: readonly string[];
}
export type ProviderDescriptions = Readonly<Record<ProviderId, ProviderDescription>>;

/** The adapters that are configured (have credentials); a provider without one is inactive. */
export type ProviderAdapters = ReadonlyMap<ProviderId, ProviderAdapter>;

/** The operator's settings for a provider; null keeps the catalog's or adapter's own. */
export interface ProviderSettings {
  /** The switch; null is the default: on in the sandbox, off in live mode. */
  readonly active: boolean | null;
  /** Whether it leads the list where it can serve, unless the merchant has pinned another one. */
  readonly pinned: boolean | null;
  readonly minimumUsdCents: number | null;
}

export interface ProviderStore {
  readProviderSettings(provider: ProviderId): Promise<ProviderSettings>;
  writeProviderSettings(provider: ProviderId, change: Partial<ProviderSettings>): Promise<void>;
}

/** How customers' visits to providers ended, without anything that names a customer or a payment. */
export interface VisitStore {
  /**
   * Visits that began at this time or later, the newest first: those whose payment is paid, that failed at the provider, or
   * that began before `decidedBeforeMs`. Of the newest `limit` visits only.
   */
  listVisitOutcomes(
    sinceMs: number,
    decidedBeforeMs: number,
    limit: number,
  ): Promise<readonly VisitOutcome[]>;
}
