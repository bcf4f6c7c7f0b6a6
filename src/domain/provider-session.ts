import type { PaymentId } from './payment-id.ts';
import type { ProviderId } from './provider-catalogue.ts';

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
}

/** At most this many sessions are started for one payment within an hour; the payment's expiry bounds them all. */
export const MAXIMUM_SESSIONS_PER_HOUR = 50;
