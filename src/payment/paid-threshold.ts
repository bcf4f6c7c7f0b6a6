import { invalidField } from './errors.ts';
import {
  BASIS_POINTS,
  formatCents,
  larger,
  lessBasisPoints,
  MAXIMUM_AMOUNT_CENTS,
  UNITS_PER_CENT,
} from './money.ts';
import type { AmountMismatch, Payment } from './payment.ts';
import { assumedDeliveryUnits, type ProviderId, providerCatalog } from './provider-catalog.ts';
import type { ProviderSession } from './provider-session.ts';

/**
 * The threshold from which a card payment counts as paid in full. Without a started session it is the USD value of the
 * charge, less the tolerance. A started session lowers the threshold to what its provider delivers, less the tolerance,
 * together with what had arrived before a session for the rest. The threshold never rises, because an on-ramp may deliver
 * long after its session has expired, and it never falls below what the maximum provider fee and the tolerance leave,
 * because anyone with the link can start a session and pay from a wallet.
 */

/** Terms that the operator sets for all accounts and an account may set for itself. A payment keeps those of its creation. */
export interface ThresholdTerms {
  /** Shortfall that still counts as paid in full. */
  readonly toleranceBasisPoints: number;
  /** A provider that keeps more of the charge than this is not offered. */
  readonly maxProviderFeeBasisPoints: number;
}

/** An account's own terms; null takes the operator's setting. */
export type AccountThresholdTerms = {
  readonly [Term in keyof ThresholdTerms]: ThresholdTerms[Term] | null;
};

/** The widest settings that are accepted; together they leave a quarter of the charge. */
export const MAXIMUM_TOLERANCE_BASIS_POINTS = 5_000;
export const MAXIMUM_PROVIDER_FEE_BASIS_POINTS = 5_000;
export const MINIMUM_PROVIDER_FEE_BASIS_POINTS = 100;

/** The terms of an account's new payments. An account may lower the operator's maximum fee, never raise it. */
export function thresholdTermsOf(account: AccountThresholdTerms, defaults: ThresholdTerms): ThresholdTerms {
  const ownMaximum = account.maxProviderFeeBasisPoints ?? defaults.maxProviderFeeBasisPoints;
  return {
    toleranceBasisPoints: account.toleranceBasisPoints ?? defaults.toleranceBasisPoints,
    maxProviderFeeBasisPoints: Math.min(ownMaximum, defaults.maxProviderFeeBasisPoints),
  };
}

/** The sum of deposits from which a payment counts as paid in full. At least one unit, so that a payment never starts as paid. */
export function computePaidThreshold(expectedUnits: bigint, toleranceBasisPoints: number): bigint {
  return larger(1n, lessBasisPoints(expectedUnits, toleranceBasisPoints));
}

/**
 * The threshold of a direct payment: its whole value, or where the account tolerates a missing cent, one cent less; below
 * one USD a hundredth less, so that a payment of a few cents is not paid by nothing.
 */
export function directThreshold(expectedUnits: bigint, toleratesMissingCent: boolean): bigint {
  if (!toleratesMissingCent) return computePaidThreshold(expectedUnits, 0);
  if (expectedUnits < 100n * UNITS_PER_CENT) return computePaidThreshold(expectedUnits, 100);
  return expectedUnits - UNITS_PER_CENT;
}

/** The lowest threshold that any session can lead to. */
export function computeMinPaidThreshold(
  chargedUsdUnits: bigint,
  maxProviderFeeBasisPoints: number,
  toleranceBasisPoints: number,
): bigint {
  const minDelivery = minDeliveryUnits(chargedUsdUnits, maxProviderFeeBasisPoints);
  return computePaidThreshold(minDelivery, toleranceBasisPoints);
}

/** What decides how far a session lowers the threshold. */
export type SessionTerms = Pick<
  ProviderSession,
  'provider' | 'quotedUnits' | 'chargedCents' | 'receivedUnits'
>;

/** The threshold once these sessions were started, in whatever order: their lowest, and never above the present one. */
export function thresholdAfterSessions(
  payment: Pick<Payment, 'paidThresholdUnits' | 'amountCents' | 'usdUnits' | 'maxProviderFeeBasisPoints'>,
  sessions: readonly SessionTerms[],
  toleranceBasisPoints: number,
): bigint {
  const { amountCents, usdUnits, maxProviderFeeBasisPoints } = payment;
  const floor = computeMinPaidThreshold(usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints);
  let threshold = payment.paidThresholdUnits;
  for (const session of sessions) {
    const chargedUsdUnits = (usdUnits * BigInt(session.chargedCents)) / BigInt(amountCents);
    // What arrived before a session for the rest is no expectation and gets no tolerance: the session alone pays nothing.
    const deliveryUnits = sessionDeliveryUnits(session, chargedUsdUnits);
    const lowered = session.receivedUnits + computePaidThreshold(deliveryUnits, toleranceBasisPoints);
    if (lowered < threshold && lowered >= floor) threshold = lowered;
  }
  return threshold;
}

/** The threshold as if no session for the rest had been started. */
export function thresholdOfWhole(
  payment: Parameters<typeof thresholdAfterSessions>[0] & Pick<Payment, 'toleranceBasisPoints'>,
  sessions: readonly SessionTerms[],
): bigint {
  const { usdUnits, toleranceBasisPoints } = payment;
  const ofWhole = sessions.filter(({ receivedUnits }) => receivedUnits === 0n);
  if (ofWhole.length === sessions.length) return payment.paidThresholdUnits;
  const first = { ...payment, paidThresholdUnits: computePaidThreshold(usdUnits, toleranceBasisPoints) };
  return larger(payment.paidThresholdUnits, thresholdAfterSessions(first, ofWhole, toleranceBasisPoints));
}

/** The expected delivery of a started session: its quote, or else the catalog's assumption. */
export function sessionDeliveryUnits(
  session: Pick<ProviderSession, 'provider' | 'quotedUnits'>,
  chargedUsdUnits: bigint,
): bigint {
  return session.quotedUnits ?? assumedDeliveryUnits(session.provider, chargedUsdUnits);
}

/** The minimum delivery for a charge of this USD value, rounded up. */
export function minDeliveryUnits(chargedUsdUnits: bigint, maxProviderFeeBasisPoints: number): bigint {
  const feeUnits = (chargedUsdUnits * BigInt(maxProviderFeeBasisPoints)) / 10_000n;
  return chargedUsdUnits - feeUnits;
}

/**
 * The amount in USD cents from which the provider's assumed fee is within the maximum; null where its rate alone is
 * above it, so that no amount helps.
 */
export function minUsdCentsForFee(provider: ProviderId, maxProviderFeeBasisPoints: number): number | null {
  const { feeBasisPoints, minimumFeeUsdCents } = providerCatalog[provider];
  if (feeBasisPoints > maxProviderFeeBasisPoints) return null;
  return minimumFeeUsdCents === 0 ? 0 : Math.ceil((minimumFeeUsdCents * 10_000) / maxProviderFeeBasisPoints);
}

/** The amount in USD cents from which a quoted fee above the maximum would fit, if it stayed the same. */
export function minUsdCentsForQuotedFee(
  chargedUsdUnits: bigint,
  deliveryUnits: bigint,
  maxProviderFeeBasisPoints: number,
): number {
  const fee = chargedUsdUnits - deliveryUnits;
  const divisor = BigInt(maxProviderFeeBasisPoints) * UNITS_PER_CENT;
  return Number((fee * 10_000n + divisor - 1n) / divisor);
}

/**
 * The smallest plausible quote, as a share of the delivery that the catalog assumes. Its fees are unverified, so a
 * provider may take a fifth more than assumed. A quote far below is a defect (cents taken for dollars, an amount of
 * another coin) and would let a fraction of the price count as paid.
 */
const MIN_SHARE_OF_ASSUMED_PERCENT = 80n;
/**
 * The largest plausible quote, as a share of the charge's value at creation: no provider delivers more than was charged.
 * The two percent allow for a rate that has moved since.
 */
const MAX_SHARE_OF_CHARGE_PERCENT = 102n;

/** Whether a provider's quote may lower the threshold for a charge of this USD value; all in 10⁻⁶ units. */
export function isPlausibleQuote(
  provider: ProviderId,
  quotedUnits: bigint,
  chargedUsdUnits: bigint,
): boolean {
  if (quotedUnits <= 0n) return false;
  const min = assumedDeliveryUnits(provider, chargedUsdUnits) * MIN_SHARE_OF_ASSUMED_PERCENT;
  const max = chargedUsdUnits * MAX_SHARE_OF_CHARGE_PERCENT;
  return quotedUnits * 100n >= min && quotedUnits * 100n <= max;
}

/** 0.01 USDC. A sum below it changes no state, so that a sender of single units changes nothing either. */
const DUST_LIMIT_UNITS = UNITS_PER_CENT;

/** Whether a sum is too small to change the payment's state: below 0.01 USDC, and not enough to be paid. */
export function isDust({ paidThresholdUnits }: Pick<Payment, 'paidThresholdUnits'>, units: bigint): boolean {
  return units < DUST_LIMIT_UNITS && units < paidThresholdUnits;
}

/** Missing share of the threshold from which the deposits do not count as an attempt to pay. */
const NEARLY_ALL_MISSING_PERCENT = 90n;

/**
 * Whether nearly everything is still missing. Anyone can send a unit to any deposit address, and this must not block
 * the checkout: customers may still start a session. A larger deposit is a customer's money, and a session at a
 * provider, which always charges the whole amount, would charge them twice.
 */
export function isNearlyAllMissing(payment: Pick<Payment, 'paidThresholdUnits'>, seenUnits: bigint): boolean {
  const { paidThresholdUnits } = payment;
  const missingUnits = paidThresholdUnits - seenUnits;
  return isDust(payment, seenUnits) || missingUnits * 100n >= paidThresholdUnits * NEARLY_ALL_MISSING_PERCENT;
}

/**
 * The deposits each of which pays in full, by the lowest threshold of any session: what a merchant accepted as paid may be
 * less, and a second deposit of as much then is the rest.
 */
export function fullDepositsOf<Deposit extends { readonly units: bigint }>(
  payment: Pick<Payment, 'paidThresholdUnits' | 'usdUnits' | keyof ThresholdTerms>,
  deposits: readonly Deposit[],
): Deposit[] {
  const { paidThresholdUnits, usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints } = payment;
  const floor = computeMinPaidThreshold(usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints);
  const fullUnits = larger(larger(paidThresholdUnits, floor), DUST_LIMIT_UNITS);
  return deposits.filter(({ units }) => units >= fullUnits);
}

/** A twentieth more than the charge's value is clearly more: exchange rates seldom move that far until delivery. */
const OVERPAID_FROM_PERCENT = 105n;
/** 0.10 USDC: less than that is no part of a payment, unless the payment itself is that small. */
const MIN_PART_UNITS = 100_000n;

/**
 * Whether a payment is paid in part or overpaid. Overpaid: clearly more than its value arrived, or two deposits each of
 * which suffices, as after two finished provider sessions. Null where neither is significant.
 */
export function amountMismatchOf(
  payment: Pick<Payment, 'status'> & Parameters<typeof fullDepositsOf>[0],
  deposits: readonly { readonly units: bigint }[],
): AmountMismatch | null {
  if (payment.status === 'canceled') return null;
  const seenUnits = deposits.reduce((sum, { units }) => sum + units, 0n);
  if (payment.status === 'unpaid' && seenUnits < payment.paidThresholdUnits) {
    const isPart = seenUnits >= MIN_PART_UNITS || !isNearlyAllMissing(payment, seenUnits);
    return seenUnits > 0n && isPart ? 'partially_paid' : null;
  }
  const isClearlyMore = seenUnits * 100n >= payment.usdUnits * OVERPAID_FROM_PERCENT;
  // A single unit may be clearly more than a payment worth cents; that is too little to return.
  const isSignificant = seenUnits >= payment.usdUnits + MIN_PART_UNITS;
  return (isClearlyMore && isSignificant) || fullDepositsOf(payment, deposits).length >= 2
    ? 'overpaid'
    : null;
}

/** The account's fee: what the deposit contract keeps of a deposit, or what the customer pays on top. */

/** Maximum fee in basis points. The deposit contract refuses more as well. */
export const MAXIMUM_FEE_BASIS_POINTS = 1_000;

/** The account's fee on a deposit, exactly as the deposit contract computes it. */
export function feeUnits(units: bigint, feeBasisPoints: number): bigint {
  return (units * BigInt(feeBasisPoints)) / BigInt(BASIS_POINTS);
}

/**
 * Fee pass-through: the smallest gross in cents whose fee leaves at least `requestedCents`
 * (10000 at 250 basis points → 10257). Infinity when the fee is 100 %: no gross is large enough.
 */
export function grossUpCents(requestedCents: number, feeBasisPoints: number): number {
  if (feeBasisPoints >= BASIS_POINTS) return Number.POSITIVE_INFINITY;
  const requestedUnits = BigInt(requestedCents) * UNITS_PER_CENT;
  // A cent is 10,000 units and the fee has 1/10,000 steps, so the floor in the fee never applies to whole cents:
  // the net of g cents is exactly g × (10000 − bps) units, and the smallest g is this quotient rounded up.
  const netPerCent = BigInt(BASIS_POINTS - feeBasisPoints);
  return Number((requestedUnits + netPerCent - 1n) / netPerCent);
}

/** The amount charged to the customer; under pass-through the smallest that leaves the requested net. */
export function chargeWithFee(
  { amountCents, passFeeToCustomer }: Pick<Payment, 'amountCents' | 'passFeeToCustomer'>,
  feeBasisPoints: number,
): Pick<Payment, 'amountCents' | 'originalAmountCents' | 'customerFeeCents'> {
  if (!passFeeToCustomer) return { amountCents, originalAmountCents: null, customerFeeCents: null };
  const grossCents = grossUpCents(amountCents, feeBasisPoints);
  if (grossCents > MAXIMUM_AMOUNT_CENTS) {
    throw invalidField('amount', `including fees must not exceed ${formatCents(MAXIMUM_AMOUNT_CENTS)}`);
  }
  return {
    amountCents: grossCents,
    originalAmountCents: amountCents,
    customerFeeCents: grossCents - amountCents,
  };
}

/**
 * The result of a fee for an amount that a merchant requests, without the provider's own fee: what the customer is
 * charged, the fee as the deposit contract computes it, and what reaches the merchant of a payment that is paid in full.
 *
 * @param isPassedThrough whether the customer pays the fee on top, so that the merchant gets what was asked for
 */
export function feeExample(askedCents: number, feeBasisPoints: number, isPassedThrough: boolean) {
  const chargedCents = isPassedThrough ? grossUpCents(askedCents, feeBasisPoints) : askedCents;
  const units = BigInt(chargedCents) * UNITS_PER_CENT;
  const fee = feeUnits(units, feeBasisPoints);
  return { chargedCents, feeUnits: fee, merchantUnits: units - fee };
}
