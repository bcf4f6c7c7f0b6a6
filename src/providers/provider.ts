import type { Address } from '../payment/address.ts';
import type { Currency } from '../payment/money.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { ProviderSession, SessionProgress } from '../payment/provider-session.ts';
import type { ProviderEndpoint } from './provider-evidence.ts';
import type { VisitOutcome } from './provider-success.ts';

export interface QuoteRequest {
  readonly amountCents: number;
  readonly currency: Currency;
  /** The amount's value in USD, 10⁻⁶ units. */
  readonly usdUnits: bigint;
  /** ISO 3166-1 alpha-2 in capitals; null or absent where it is unknown. */
  readonly customerCountry?: string | null;
  /** Code of the customer's state in the United States; null or absent where it is unknown. */
  readonly customerState?: string | null;
  /**
   * The customer's public IP address in canonical form (`1.2.3.4` or compressed lower-case IPv6), where it is known and
   * there is one customer: none for a create or a shared quote. A session with an address is only for customers there.
   */
  readonly customerIp?: string | null;
  /** Account whose share of the rate limit the call uses. Not sent to the provider. */
  readonly accountId?: string;
  /** Nobody waits for the answer: the call leaves most of the rate limit to others. */
  readonly isBackground?: true;
}

export interface Quote {
  /** What the customer is charged in all, the provider's fees included, in cents of the payment's currency. */
  readonly chargedCents: number;
  /** Amount that the deposit address would receive, 10⁻⁶ USDC units; null if the provider does not state it. */
  readonly deliveryUnits: bigint | null;
  /** The provider's own minimum in USD cents; null if it states none. */
  readonly minimumUsdCents: number | null;
}

export interface SessionRequest extends QuoteRequest {
  readonly paymentId: PaymentId;
  readonly depositAddress: Address;
  /** The customer's email address; null if there is none, or if the visitor does not know it. */
  readonly email: string | null;
  /**
   * The same for all payments of an account with this email address, for providers that prove who the customer is before
   * they reuse anything; the payment's id without an address.
   */
  readonly customerReference: string;
  /** The checkout page, to which the provider returns the customer. */
  readonly returnUrl: string;
}

export type StartedSession = Pick<
  ProviderSession,
  'redirectUrl' | 'providerReference' | 'expiresAtMs' | 'quotedUnits'
>;

/** An unauthenticated webhook request in a provider's name, byte for byte. */
export interface PostedWebhook {
  /** Path and query as received. */
  readonly target: string;
  /** First value of each header, by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly receivedAtMs: number;
}

/** Content of an authentic webhook about one payment: a hint for the customer's page, never proof of payment. */
export interface ProviderWebhook {
  /** Payment id as repeated by the provider, not verified yet. */
  readonly paymentId: PaymentId;
  /** The provider's session id, if it is the one that `startSession` returned; otherwise null. */
  readonly providerReference: string | null;
  /** Wallet of the delivery, which must be the payment's deposit address; null if not stated. */
  readonly walletAddress: string | null;
  /** Contract of the delivered token; null or absent if not stated. */
  readonly tokenContract?: string | null;
  readonly progress: SessionProgress;
  /** Time of the event at the provider, or of its arrival. */
  readonly atMs: number;
}

/** Webhook refused as forged or too old. The message is for the log, not the sender. */
export class ProviderWebhookRefusedError extends Error {
  override readonly name = 'ProviderWebhookRefusedError';
}

/** A provider's catalog entry for USDC on Polygon. */
export interface CatalogEntry {
  /** The provider's name of the asset. */
  readonly asset: string;
  /** Contract of the delivered token; null if not stated. */
  readonly tokenContract: string | null;
  /** Limits of a purchase in cents of the requested currency; null if not stated. */
  readonly minimumCents: number | null;
  readonly maximumCents: number | null;
}

/** A provider's health, as seen by this process since its start. */
export interface ProviderHealth {
  /** Whether calls are skipped, except for occasional trials, because quotes or sessions failed too often in a row. */
  readonly isCircuitOpen: boolean;
  readonly failuresInARow: number;
  readonly lastAnswerAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  /** Message for the operator only, never for customers or merchants. */
  readonly lastFailure: string | null;
}

/** A provider's raw answer, without its request. */
export interface RecordedAnswer {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Null for a long answer, such as a catalog of all assets. */
  readonly body: unknown;
}

/** One on-ramp's protocol. Every call is bounded in time. */
export interface ProviderAdapter {
  readonly id: ProviderId;
  /** A session's URL works only once, so it is never handed out again. */
  readonly opensOnce?: true;
  /** The provider that runs its sessions, whose webhooks cover them as well. */
  readonly routedThrough?: ProviderId;
  /** Refuses customers whose browser sends no referrer of this service. */
  readonly checksReferrer?: true;
  /** Whether starting a session needs the customer's country. */
  readonly needsCountry?: true;
  /** Currencies that it is known to accept; absent if unknown. */
  readonly currenciesSold?: readonly Currency[];
  /** The only one that its route accepts; absent where the catalog decides. */
  readonly onlyCurrency?: Currency;
  /** Countries whose customers it is known to serve alone; absent if unknown. */
  readonly countriesServed?: ReadonlySet<string>;
  /** Throws `provider_unavailable` when the provider does not answer, `provider_inactive` when it declines. */
  quote(request: QuoteRequest): Promise<Quote>;
  /** A quote for the same request that is fresh or being fetched; null if there is none. Makes no call. */
  cachedQuote?(request: QuoteRequest): Promise<Quote> | null;
  /** Reads the provider's catalog; absent without one. Throws like `quote`. */
  readCatalog?(request: QuoteRequest): Promise<CatalogEntry>;
  /** Why it cannot be used in production yet, for the operator. */
  readonly blockedBecause?: string;
  /** Target of its calls; absent in tests of other parts. */
  readonly endpoint?: ProviderEndpoint;
  /** Runs the work, and adds the provider's answers to the list. */
  recordAnswers?<T>(answers: RecordedAnswer[], work: () => Promise<T>): Promise<T>;
  /** Throws like `quote`. Only called on the customer's click. */
  startSession(request: SessionRequest): Promise<StartedSession>;
  /**
   * Authenticates and reads a webhook of the provider; null for an authentic one about no payment. Throws
   * `ProviderWebhookRefusedError`, `UnknownStateError` for an unknown status, and `provider_unavailable` if a call
   * needed for validation failed. Absent if the provider sends no webhooks, or their key is not configured.
   */
  readWebhook?(webhook: PostedWebhook): Promise<ProviderWebhook | null>;
  /** The provider's health, if a circuit breaker observes it. */
  health?(): ProviderHealth;
  /** Whether quotes fail at once because of an outage, if a circuit breaker observes it. */
  isSkipped?(): boolean;
  /** The same adapter without the circuit breaker. */
  readonly unguarded?: ProviderAdapter;
}

/** Facts about a provider that require no account there. */
export interface ProviderDescription {
  /** Environment variables without which it is inactive. */
  readonly requiredVariables: readonly string[];
  /** Facts that the adapter relies on without an official source. */
  readonly unverified: readonly string[];
}
export type ProviderDescriptions = Readonly<Record<ProviderId, ProviderDescription>>;

/** Configured adapters (with credentials); a provider without one is inactive. */
export type ProviderAdapters = ReadonlyMap<ProviderId, ProviderAdapter>;

/** The operator's settings for a provider; null keeps the default. */
export interface ProviderSettings {
  /** Null is the default: on in the sandbox, off in live mode. */
  readonly active: boolean | null;
  /** Whether it is at the top of the list, unless the merchant has pinned another one. */
  readonly pinned: boolean | null;
  readonly minimumUsdCents: number | null;
}

export interface ProviderStore {
  readProviderSettings(provider: ProviderId): Promise<ProviderSettings>;
  writeProviderSettings(provider: ProviderId, change: Partial<ProviderSettings>): Promise<void>;
}

/** Outcomes of customers' sessions at providers, without anything that identifies customer or payment. */
export interface VisitStore {
  /**
   * Newest `limit` visits started at this time or later, newest first: those whose payment is paid, that failed at the
   * provider, or that started before `decidedBeforeMs`.
   */
  listVisitOutcomes(
    sinceMs: number,
    decidedBeforeMs: number,
    limit: number,
  ): Promise<readonly VisitOutcome[]>;
}
