import { feeUnits as feeUnitsOf } from './fees-and-paid-threshold.ts';
import type { Currency } from './money.ts';
import type { Payment } from './payment.ts';
import type { ProviderSession } from './provider-session.ts';

/** Length of a slot. In every time zone, days start on a quarter hour in UTC. */
export const SLOT_MS = 15 * 60_000;

/** Counts of payments in one currency, over one or more quarter hours. */
export interface PaymentSlot {
  readonly startMs: number;
  readonly currency: Currency;
  readonly created: number;
  readonly converted: number;
  /** Number of payments that became paid in this period, and the sum of their charges. */
  readonly paid: number;
  readonly paidCents: number;
  /** Sum received by these payments when they became paid, and the service's fees, in 10⁻⁶ USDC. */
  readonly receivedUnits: number;
  readonly feeUnits: number;
}

/** Change of an account's statistics, written in the transaction of the payment's change. */
export interface CountedChange extends PaymentSlot {
  readonly accountId: string;
  /** Null unless the payment became paid. */
  readonly provider: Payment['provider'] | null;
  readonly settleClass: number | null;
}

/** Number of payments paid on some UTC days, by provider and duration. */
export interface PaidCount {
  readonly provider: Payment['provider'];
  /** Index into `settleBoundsMs`, or its length for longer durations. */
  readonly settleClass: number;
  readonly paid: number;
}

/** Upper bounds of the classes by which paid payments are counted: the time from creation until paid. */
export const settleBoundsMs: readonly number[] = [
  ...[1, 2, 5, 10, 30].map((minutes) => minutes * 60_000),
  ...[1, 6, 24].map((hours) => hours * 3_600_000),
];

/** Limit of one amount, because SQLite stores larger numbers as floating point. A token may report any amount. */
const MAXIMUM_UNITS = 2 ** 50;

/** Converts units to a number that databases can sum, limited to ±`MAXIMUM_UNITS`. */
export function countableUnits(units: bigint | number): number {
  return Math.max(-MAXIMUM_UNITS, Math.min(Number(units), MAXIMUM_UNITS));
}

const uncounted = {
  created: 0,
  converted: 0,
  paid: 0,
  paidCents: 0,
  receivedUnits: 0,
  feeUnits: 0,
  provider: null,
  settleClass: null,
};

export function createdChange({ accountId, currency, createdAtMs }: Payment): CountedChange {
  return { ...uncounted, accountId, currency, startMs: slotOf(createdAtMs), created: 1 };
}

/** Returns the changes for a newly paid payment. Computes a direct payment's fee, because it is not released yet. */
export function paidChanges(payment: Payment, sessions: readonly StartedSession[]): CountedChange[] {
  const { accountId, currency, createdAtMs, amountCents, receivedUnits, forwardedUnits } = payment;
  const paidAtMs = payment.paidAtMs ?? createdAtMs;
  const fee =
    forwardedUnits > 0n ? receivedUnits - forwardedUnits : feeUnitsOf(receivedUnits, payment.feeBasisPoints);
  const change = { ...uncounted, accountId, currency };
  return [
    { ...change, startMs: slotOf(createdAtMs), converted: 1 },
    {
      ...change,
      startMs: slotOf(paidAtMs),
      paid: 1,
      paidCents: amountCents,
      receivedUnits: countableUnits(receivedUnits),
      feeUnits: countableUnits(fee),
      provider: payingProvider(payment, sessions),
      settleClass: settleClassOf(payment, paidAtMs),
    },
  ];
}

function slotOf(timeMs: number): number {
  return timeMs - (timeMs % SLOT_MS);
}

function settleClassOf(payment: Pick<Payment, 'createdAtMs'>, paidAtMs: number): number {
  const durationMs = paidAtMs - payment.createdAtMs;
  const index = settleBoundsMs.findIndex((boundMs) => durationMs <= boundMs);
  return index === -1 ? settleBoundsMs.length : index;
}

type StartedSession = Pick<ProviderSession, 'provider' | 'createdAtMs'>;

/** Returns the presumed provider: that of the last session before the payment was paid, or else the payment's own. */
export function payingProvider(
  payment: Pick<Payment, 'provider' | 'paidAtMs'>,
  sessions: readonly StartedSession[],
): Payment['provider'] {
  const untilMs = payment.paidAtMs ?? Number.POSITIVE_INFINITY;
  const before = sessions.filter(({ createdAtMs }) => createdAtMs <= untilMs);
  return before.at(-1)?.provider ?? payment.provider;
}
