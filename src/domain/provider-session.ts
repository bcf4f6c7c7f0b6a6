import type { PaymentId } from './payment-id.ts';
import type { ProviderId } from './provider-catalogue.ts';

/**
 * How far a customer's visit has come, as the provider tells it. A hint for the customer's page and nothing else: only
 * what arrives on the chain counts as paid.
 */
export type SessionProgress = 'paying' | 'delivering' | 'delivered' | 'failed';

/** A customer's visit at an on-ramp, as it is stored. */
export interface ProviderSession {
  readonly id: string;
  readonly paymentId: PaymentId;
  readonly provider: ProviderId;
  readonly redirectUrl: string;
  readonly providerReference: string;
  readonly quotedUnits: bigint | null;
  readonly createdAtMs: number;
  /** Until then the customer can still begin to pay in it. */
  readonly expiresAtMs: number;
  /** What the provider last told of it; null while it has told nothing. */
  readonly progress: SessionProgress | null;
  /** When that happened at the provider; null with `progress`. */
  readonly progressAtMs: number | null;
  /** Of the page on which it was begun, ISO 639-1: the customer's, as far as anybody knows. Null where it is not known. */
  readonly language: string | null;
  /** The provider was given the customer's e-mail address with it. */
  readonly hasEmail: boolean;
}

/**
 * At most this many sessions are started for one payment within an hour, and as many for visitors who know its e-mail
 * address; the payment's expiry bounds them all.
 */
export const MAXIMUM_SESSIONS_PER_HOUR = 50;
