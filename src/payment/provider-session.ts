import type { PaymentId } from './payment.ts';
import type { ProviderId } from './provider-catalog.ts';

/**
 * Progress of a provider session as the provider reports it. A hint for the customer's page and nothing else: only
 * what arrives on the chain counts as paid.
 */
export type SessionProgress = 'paying' | 'delivering' | 'delivered' | 'failed';

/** A customer's session at an on-ramp, as it is stored. */
export interface ProviderSession {
  readonly id: string;
  readonly paymentId: PaymentId;
  readonly provider: ProviderId;
  /** The address to which the customer's browser is redirected. */
  readonly redirectUrl: string;
  /** The provider's own id of the session, shown to the customer as a reference. */
  readonly providerReference: string;
  /** What the customer is charged, in cents of the payment's currency: the whole amount, or the rest of it. */
  readonly chargedCents: number;
  /** For a session for the rest: what had arrived when it started, 10⁻⁶ USDC units; else zero. */
  readonly receivedUnits: bigint;
  /** The provider's quote for this session, 10⁻⁶ USDC units; null when it gave none. */
  readonly quotedUnits: bigint | null;
  readonly createdAtMs: number;
  /** Time until which the customer can begin to pay in the session. */
  readonly expiresAtMs: number;
  /** The provider's last report; null before the first. */
  readonly progress: SessionProgress | null;
  /** Time of that report at the provider; null with `progress`. */
  readonly progressAtMs: number | null;
  /** Language of the page on which the session was started, ISO 639-1: presumably the customer's. Null where it is unknown. */
  readonly language: string | null;
  /** Whether the provider received the customer's email address with the session. */
  readonly hasEmail: boolean;
  /**
   * Keyed hash of the customer's IP address. The session's link may be bound to the address, so it is only for customers
   * at that address. Null where the address is unknown.
   */
  readonly customerIpHash: string | null;
  /** The customer's country, ISO 3166-1 alpha-2; null where it is unknown. */
  readonly customerCountry: string | null;
}

/** A provider that took a customer's money has delivered it within a day, or its support knows why not. */
const LONGEST_DELIVERY_MS = 24 * 3_600_000;

/** Whether the provider reports that it has the customer's money and has not delivered it yet. */
export function isDelivering(
  { progress, progressAtMs }: Pick<ProviderSession, 'progress' | 'progressAtMs'>,
  nowMs: number,
): boolean {
  return progress === 'delivering' && progressAtMs !== null && progressAtMs > nowMs - LONGEST_DELIVERY_MS;
}

/**
 * At most this many sessions are started for one payment within an hour, and as many for customers who know its email
 * address; the payment's expiry bounds them all.
 */
export const MAXIMUM_SESSIONS_PER_HOUR = 50;

/**
 * Sessions of one payment are started for customers at no more than this many IP addresses within an hour. A phone that
 * changes networks gets a new link each time.
 */
export const MAXIMUM_ADDRESSES_PER_HOUR = 20;
