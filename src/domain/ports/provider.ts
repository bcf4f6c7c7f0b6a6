import type { Currency } from '../money.ts';
import type { PaymentId } from '../payment-id.ts';
import type { Address } from '../payout-address.ts';
import type { ProviderId } from '../provider-catalogue.ts';

export interface QuoteRequest {
  readonly amountCents: number;
  readonly currency: Currency;
  /** The amount's value in USD, 10⁻⁶ units. */
  readonly usdUnits: bigint;
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

/** One on-ramp's wire protocol. Both calls are bounded in time. */
export interface ProviderAdapter {
  readonly id: ProviderId;
  /** Throws `ServiceError` provider_unavailable when the provider does not answer, provider_inactive when it declines. */
  quote(request: QuoteRequest): Promise<Quote>;
  /** Throws like `quote`. Called only on the customer's click. */
  startSession(request: SessionRequest): Promise<StartedSession>;
}

/** The adapters that are configured (have credentials); a provider without one is inactive. */
export type ProviderAdapters = ReadonlyMap<ProviderId, ProviderAdapter>;
