import type { Currency } from './money.ts';
import type { Payment } from './payment.ts';
import type { ProviderSession } from './provider-session.ts';

/** Quarters of an hour: a day of any time zone begins with one. */
const SLOT_MS = 15 * 60_000;
const DAY_MS = 24 * 3_600_000;

/** Counts of one or several quarters of an hour, by currency. */
export interface PaymentSlot {
  readonly startMs: number;
  readonly currency: Currency;
  /** Payments created in it. */
  readonly created: number;
  /** Payments among them that became paid, at whatever time. */
  readonly converted: number;
  /** Payments that became paid in it, and what their customers were charged. */
  readonly paid: number;
  readonly paidCents: number;
  /** What was received for those payments when they became paid, and the service's fees of it, in 10⁻⁶ USDC. */
  readonly receivedUnits: number;
  readonly feeUnits: number;
}

/** Paid payments of some days (of UTC) by provider and by how long they took. */
export interface PaidCount {
  readonly provider: Payment['provider'];
  /** An index into `settleBoundsMs`; one more than its last for longer. */
  readonly settleClass: number;
  readonly paid: number;
}

/** Upper bounds of the time from created to paid. */
export const settleBoundsMs: readonly number[] = [
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * 60_000),
  ...[1, 6, 24].map((hours) => hours * 3_600_000),
];

export function slotOf(timeMs: number): number {
  return timeMs - (timeMs % SLOT_MS);
}

/** The day of UTC that a moment is in, by its beginning. */
export function dayOf(timeMs: number): number {
  return timeMs - (timeMs % DAY_MS);
}

/** The index of the first bound that is not exceeded. */
export function settleClassOf(payment: Pick<Payment, 'createdAtMs'>, paidAtMs: number): number {
  const durationMs = paidAtMs - payment.createdAtMs;
  const index = settleBoundsMs.findIndex((boundMs) => durationMs <= boundMs);
  return index === -1 ? settleBoundsMs.length : index;
}

/** The presumed provider of a paid payment: that of the last session before it was paid. */
export function payingProvider(
  payment: Pick<Payment, 'provider' | 'paidAtMs'>,
  sessions: readonly Pick<ProviderSession, 'provider' | 'createdAtMs'>[],
): Payment['provider'] {
  const untilMs = payment.paidAtMs ?? Number.POSITIVE_INFINITY;
  const before = sessions.filter(({ createdAtMs }) => createdAtMs <= untilMs);
  return before.at(-1)?.provider ?? payment.provider;
}
