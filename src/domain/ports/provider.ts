import type { Currency, UsdRate } from '../money.ts';
import type { PaymentId } from '../payment-id.ts';
import type { Address } from '../payout-address.ts';
import type { ProviderId } from '../provider-catalogue.ts';
import type { SessionProgress } from '../provider-session.ts';

export interface QuoteRequest {
  readonly amountCents: number;
  readonly currency: Currency;
  /** The amount's value in USD, 10⁻⁶ units. */
  readonly usdUnits: bigint;
  /** Where the customer lives, ISO 3166-1 alpha-2 in capitals; null or absent where nobody has said. */
  readonly country?: string | null;
}

/** What a provider says it would do; asking binds nobody. */
export interface Quote {
  /** What the deposit address would receive, 10⁻⁶ USDC units; null when the provider does not say. */
  readonly deliveryUnits: bigint | null;
  /** The provider's own minimum in USD cents if it says one, else null. */
  readonly minimumUsdCents: number | null;
}

export interface SessionRequest extends QuoteRequest {
  readonly paymentId: PaymentId;
  readonly depositAddress: Address;
  /** Null where the payment has none, or its visitor did not prove to be its owner. */
  readonly email: string | null;
  /** The checkout page, to which the provider sends the customer back. */
  readonly returnUrl: string;
}

export interface StartedSession {
  /** Where the customer's browser goes. */
  readonly redirectUrl: string;
  /** The provider's own name for it, shown to the customer as a reference. */
  readonly providerReference: string;
  /** Until then the customer can begin to pay in it. */
  readonly expiresAtMs: number;
  /** What the provider quoted for this session, 10⁻⁶ USDC units; null when it did not. */
  readonly quotedUnits: bigint | null;
}

/** What was posted to us in a provider's name, byte for byte: nothing of it is believed before it is authenticated. */
export interface PostedWebhook {
  /** Path and query as they were asked for. */
  readonly target: string;
  /** Of each header the first value, by its name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly receivedAtMs: number;
}

/** What an authentic webhook says of one payment: a hint for the customer's page, never proof of payment. */
export interface ProviderWebhook {
  /** As the provider repeats it; still to be looked up. */
  readonly paymentId: PaymentId;
  /** The provider's own name for the visit, when it is the one that `startSession` returned; else null. */
  readonly providerReference: string | null;
  /** Where the provider delivers to; null when it does not say. Has to be the payment's deposit address. */
  readonly walletAddress: string | null;
  readonly progress: SessionProgress;
  /** When it happened at the provider; when it arrived if the provider does not say. */
  readonly atMs: number;
}

/** Whoever posted the webhook could not show to be the provider, or it is too old. The message is for the log. */
export class ProviderWebhookRefusedError extends Error {
  override readonly name = 'ProviderWebhookRefusedError';
}

/** How a provider has behaved towards this process since its start. */
export interface ProviderHealth {
  /** Its quotes or its visits failed so often in a row that they are left alone, save for a trial now and then. */
  readonly isCircuitOpen: boolean;
  readonly failuresInARow: number;
  readonly lastAnswerAtMs: number | null;
  readonly lastFailureAtMs: number | null;
  /** What went wrong, for the operator; never for customers or merchants. */
  readonly lastFailure: string | null;
}

/** One on-ramp's wire protocol. Every call is bounded in time. */
export interface ProviderAdapter {
  readonly id: ProviderId;
  /** The customer can open a session's address only once: it is never handed out a second time. */
  readonly opensOnce?: true;
  /** Where its visits happen, when that is another provider: that one's webhooks are about them as well. */
  readonly routedThrough?: ProviderId;
  /** Refuses customers whose browser does not say that they come from this service's site. */
  readonly checksReferrer?: true;
  /** It starts no session before it is told where the customer lives; a quote can be asked for without. */
  readonly needsCountry?: true;
  /** Throws `ServiceError` provider_unavailable when the provider does not answer, provider_inactive when it declines. */
  quote(request: QuoteRequest): Promise<Quote>;
  /** Throws like `quote`. Called only on the customer's click. */
  startSession(request: SessionRequest): Promise<StartedSession>;
  /**
   * Authenticates and understands a webhook of the provider; null for an authentic one that says nothing of a payment.
   * Throws `ProviderWebhookRefusedError`, `UnknownStateError` for an authentic one with a word that nobody knows, and
   * `ServiceError` provider_unavailable where judging it takes a call that failed. Absent where the provider tells
   * nothing, or its key for it is not configured.
   */
  readWebhook?(webhook: PostedWebhook): Promise<ProviderWebhook | null>;
  /** Where its health is watched: how it has been. */
  health?(): ProviderHealth;
  /** Where its health is watched: the same adapter, asked even while the provider is left alone. */
  readonly unguarded?: ProviderAdapter;
}

/** The adapters that are configured (have credentials); a provider without one is inactive. */
export type ProviderAdapters = ReadonlyMap<ProviderId, ProviderAdapter>;

/** What the operator has set for a provider; null leaves the catalogue's or adapter's own. */
export interface ProviderSettings {
  readonly active: boolean | null;
  readonly minimumUsdCents: number | null;
}

/** Synchronous where it can be: on the path of every create. */
export interface ProviderStore {
  readProviderSettings(provider: ProviderId): ProviderSettings | Promise<ProviderSettings>;
  writeProviderSettings(provider: ProviderId, change: Partial<ProviderSettings>): Promise<void>;
}

/** Exchange rates to USD. */
export interface Rates {
  /** The rate now; throws `ServiceError` conversion_failed when none is fresh enough. USD is always one. */
  usdRate(currency: Currency): UsdRate | Promise<UsdRate>;
}
