import type { PaymentId } from './payment.ts';
import type { ProviderId } from './provider-catalog.ts';

/** Progress that the provider reports. It prevents a second charge during a delivery, but does not count as paid. */
export type SessionProgress = 'paying' | 'delivering' | 'delivered' | 'failed';

export interface ProviderSession {
  readonly id: string;
  readonly paymentId: PaymentId;
  readonly provider: ProviderId;
  readonly redirectUrl: string;
  /** The provider's session id, shown to the customer as a reference. */
  readonly providerReference: string;
  /** The customer's charge in cents of the payment's currency: the whole amount, or the rest of a partial payment. */
  readonly chargedCents: number;
  /** Sum of earlier deposits at the start of a session for the rest, in 10⁻⁶ USDC units; otherwise zero. */
  readonly receivedUnits: bigint;
  /** Provider's quote for this session, in 10⁻⁶ USDC units; null if there is none. */
  readonly quotedUnits: bigint | null;
  readonly createdAtMs: number;
  /** Time until which the customer can begin to pay. */
  readonly expiresAtMs: number;
  /** The provider's last report; null before the first. */
  readonly progress: SessionProgress | null;
  /** Provider's time of the last report; null if `progress` is null. */
  readonly progressAtMs: number | null;
  /** Time at which the provider reported that the customer had paid; null if unknown. */
  readonly approvedAtMs: number | null;
  /** Language (ISO 639-1) of the page that started the session, presumably the customer's; null if unknown. */
  readonly language: string | null;
  /** Whether the provider received the customer's email address with the session. */
  readonly hasEmail: boolean;
  /** Keyed hash of the IP address, means of payment and any raised total for which `redirectUrl` is valid; or null. */
  readonly customerIpHash: string | null;
  /** Customer's country (ISO 3166-1 alpha-2); null if unknown. */
  readonly customerCountry: string | null;
}

/** Time within which a provider with a customer's money should deliver. Later, its support must help. */
const LONGEST_DELIVERY_MS = 24 * 3_600_000;

/** Returns whether the provider reported within the last day that it has the customer's money and is delivering. */
export function isDelivering(
  { progress, progressAtMs }: Pick<ProviderSession, 'progress' | 'progressAtMs'>,
  nowMs: number,
): boolean {
  return progress === 'delivering' && progressAtMs !== null && progressAtMs > nowMs - LONGEST_DELIVERY_MS;
}

/** Returns whether the provider reported within the last day that it is delivering or has delivered. */
export function hasTakenMoney(
  { progress, progressAtMs }: Pick<ProviderSession, 'progress' | 'progressAtMs'>,
  nowMs: number,
): boolean {
  const isReported = progress === 'delivering' || progress === 'delivered';
  return isReported && isDelivering({ progress: 'delivering', progressAtMs }, nowMs);
}

/** Time allowed after a session's end, because the provider checks and delivers a late payment only afterwards. */
export const DELIVERY_GRACE_MS = 30 * 60_000;

/** Returns the latest end of a session that can no longer pay, unless its provider has already taken the money. */
export const lastSessionEndMs = (nowMs: number) => nowMs - DELIVERY_GRACE_MS;

export function mayStillPay(sessions: readonly ProviderSession[], nowMs: number): boolean {
  const isOpen = ({ expiresAtMs }: ProviderSession) => expiresAtMs > lastSessionEndMs(nowMs);
  return sessions.some((session) => isOpen(session) || hasTakenMoney(session, nowMs));
}

/** Maximum sessions per payment and hour, counted separately for customers who enter the payment's email address. */
export const MAXIMUM_SESSIONS_PER_HOUR = 50;

/** Maximum customer IP addresses per payment and hour. A phone that changes networks starts a new session each time. */
export const MAXIMUM_ADDRESSES_PER_HOUR = 20;
