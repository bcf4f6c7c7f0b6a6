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

/** Maximum fee of an account. The deposit contract allows more. */
export const MAXIMUM_FEE_BASIS_POINTS = 1_000;

/** Returns the account's fee on a deposit, exactly as the deposit contract computes it. */
export function feeUnits(units: bigint, feeBasisPoints: number): bigint {
  return (units * BigInt(feeBasisPoints)) / BigInt(BASIS_POINTS);
}

/** Returns the smallest gross amount in cents that leaves `requestedCents` after the fee; Infinity for 100 %. */
export function grossUpCents(requestedCents: number, feeBasisPoints: number): number {
  if (feeBasisPoints >= BASIS_POINTS) return Number.POSITIVE_INFINITY;
  const requestedUnits = BigInt(requestedCents) * UNITS_PER_CENT;
  // A cent is 10,000 units and a basis point is 1/10,000, so the net of g cents is exactly g × (10000 − bps) units. The
  // smallest sufficient g is the quotient below, rounded up.
  const netPerCent = BigInt(BASIS_POINTS - feeBasisPoints);
  return Number((requestedUnits + netPerCent - 1n) / netPerCent);
}

/** Returns the charge, which fee pass-through raises by the fee. Throws `invalid_request` above the maximum amount. */
export function chargeWithFee(
  { amountCents, passFeeToCustomer }: Pick<Payment, 'amountCents' | 'passFeeToCustomer'>,
  feeBasisPoints: number,
): Pick<Payment, 'amountCents' | 'originalAmountCents' | 'customerFeeCents'> {
  if (!passFeeToCustomer) return { amountCents, originalAmountCents: null, customerFeeCents: null };
  const grossCents = grossUpCents(amountCents, feeBasisPoints);
  if (grossCents > MAXIMUM_AMOUNT_CENTS)
    throw invalidField('amount', `including fees must not exceed ${formatCents(MAXIMUM_AMOUNT_CENTS)}`);
  return {
    amountCents: grossCents,
    originalAmountCents: amountCents,
    customerFeeCents: grossCents - amountCents,
  };
}

/** Computes an example of the account's fee, ignoring the provider's. `isPassedThrough` adds the fee to the charge. */
export function feeExample(askedCents: number, feeBasisPoints: number, isPassedThrough: boolean) {
  const chargedCents = isPassedThrough ? grossUpCents(askedCents, feeBasisPoints) : askedCents;
  const units = BigInt(chargedCents) * UNITS_PER_CENT;
  const fee = feeUnits(units, feeBasisPoints);
  return { chargedCents, feeUnits: fee, merchantUnits: units - fee };
}

// The paid threshold is the minimum sum of deposits with which a card payment is paid in full. Until a session starts,
// the threshold is the charge's USD value less the tolerance. A session lowers it to the provider's expected delivery
// less the tolerance, plus earlier deposits if the session is for the rest. The threshold never rises, because an
// on-ramp may deliver long after its session has expired. The maximum provider fee and the tolerance limit how far
// sessions can lower it, because anyone with the link can start a session and then pay from a wallet. Only a merchant
// may accept less (`acceptPayment`).

/** Terms of all accounts, or of one account. A payment keeps the terms that apply at its creation. */
export interface ThresholdTerms {
  /** Maximum shortfall with which a payment still counts as paid in full. */
  readonly toleranceBasisPoints: number;
  /** Maximum share of a charge that a provider may keep. */
  readonly maxProviderFeeBasisPoints: number;
}

/** Terms of one account; null where the operator's setting applies. */
export type AccountThresholdTerms = {
  readonly [Term in keyof ThresholdTerms]: ThresholdTerms[Term] | null;
};

/** Highest settings allowed. Together they lower the threshold to a quarter of the charge. */
export const MAXIMUM_TOLERANCE_BASIS_POINTS = 5_000;
export const MAXIMUM_PROVIDER_FEE_BASIS_POINTS = 5_000;
export const MINIMUM_PROVIDER_FEE_BASIS_POINTS = 100;

/** Returns the terms of an account's new payments. An account may lower the operator's maximum fee but not raise it. */
export function thresholdTermsOf(account: AccountThresholdTerms, defaults: ThresholdTerms): ThresholdTerms {
  const ownMaximum = account.maxProviderFeeBasisPoints ?? defaults.maxProviderFeeBasisPoints;
  return {
    toleranceBasisPoints: account.toleranceBasisPoints ?? defaults.toleranceBasisPoints,
    maxProviderFeeBasisPoints: Math.min(ownMaximum, defaults.maxProviderFeeBasisPoints),
  };
}

/** Returns the expected units less the tolerance, but at least one unit, so that no payment starts as paid. */
export function computePaidThreshold(expectedUnits: bigint, toleranceBasisPoints: number): bigint {
  return larger(1n, lessBasisPoints(expectedUnits, toleranceBasisPoints));
}

/** Returns the whole value or, if tolerated, one cent less. Below one USD, the tolerance is 1 % instead. */
export function directThreshold(expectedUnits: bigint, toleratesMissingCent: boolean): bigint {
  if (!toleratesMissingCent) return computePaidThreshold(expectedUnits, 0);
  if (expectedUnits < 100n * UNITS_PER_CENT) return computePaidThreshold(expectedUnits, 100);
  return expectedUnits - UNITS_PER_CENT;
}

/** Returns the lowest threshold that sessions can set. */
export function computeMinPaidThreshold(
  chargedUsdUnits: bigint,
  maxProviderFeeBasisPoints: number,
  toleranceBasisPoints: number,
): bigint {
  const minDelivery = minDeliveryUnits(chargedUsdUnits, maxProviderFeeBasisPoints);
  return computePaidThreshold(minDelivery, toleranceBasisPoints);
}

export type SessionTerms = Pick<
  ProviderSession,
  'provider' | 'quotedUnits' | 'chargedCents' | 'receivedUnits'
>;

/** Returns the lowest of the current threshold and the sessions' thresholds, ignoring any below the minimum. */
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
    // The tolerance applies to the expected delivery, not to earlier deposits, so that starting a session alone never
    // makes a payment paid.
    const deliveryUnits = session.quotedUnits ?? assumedDeliveryUnits(session.provider, chargedUsdUnits);
    const lowered = session.receivedUnits + computePaidThreshold(deliveryUnits, toleranceBasisPoints);
    if (lowered < threshold && lowered >= floor) threshold = lowered;
  }
  return threshold;
}

/** Returns the threshold for the whole amount, ignoring sessions that charge only the rest. */
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

/** Returns the charge's USD value less the maximum provider fee, in 10⁻⁶ units, rounded up. */
export function minDeliveryUnits(chargedUsdUnits: bigint, maxProviderFeeBasisPoints: number): bigint {
  return chargedUsdUnits - feeUnits(chargedUsdUnits, maxProviderFeeBasisPoints);
}

/** Returns the smallest amount in USD cents at which the assumed fee is within the maximum; null if there is none. */
export function minUsdCentsForFee(provider: ProviderId, maxProviderFeeBasisPoints: number): number | null {
  const { feeBasisPoints, minimumFeeUsdCents } = providerCatalog[provider];
  if (feeBasisPoints > maxProviderFeeBasisPoints) return null;
  return Math.ceil((minimumFeeUsdCents * 10_000) / maxProviderFeeBasisPoints);
}

/** Returns the smallest amount in USD cents at which the quoted fee, if fixed, would be within the maximum. */
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
 * Minimum plausible quote, as a share of the assumed delivery. A lower quote is probably a defect, such as cents read
 * as dollars, and would let a fraction of the price count as paid.
 */
const MIN_SHARE_OF_ASSUMED_PERCENT = 80n;
/** Maximum plausible quote, as a share of the charge's value. Two percent allow for moving exchange rates. */
const MAX_SHARE_OF_CHARGE_PERCENT = 102n;

/** Returns whether a provider's quote may lower the threshold for a charge of this USD value; all in 10⁻⁶ units. */
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

/** 0.01 USDC. Smaller sums change no state unless they reach the threshold, because anyone can send a few units. */
const DUST_LIMIT_UNITS = UNITS_PER_CENT;

export function isDust({ paidThresholdUnits }: Pick<Payment, 'paidThresholdUnits'>, units: bigint): boolean {
  return units < DUST_LIMIT_UNITS && units < paidThresholdUnits;
}

/** Missing share of the threshold from which deposits do not count as an attempt to pay. */
const NEARLY_ALL_MISSING_PERCENT = 90n;

/**
 * Returns whether so little arrived that a session may charge the whole amount. Anyone can send a few units, which must
 * not block the checkout. After a larger deposit, a charge of the whole amount would make the customer pay twice.
 */
export function isNearlyAllMissing(payment: Pick<Payment, 'paidThresholdUnits'>, seenUnits: bigint): boolean {
  const { paidThresholdUnits } = payment;
  const missingUnits = paidThresholdUnits - seenUnits;
  return isDust(payment, seenUnits) || missingUnits * 100n >= paidThresholdUnits * NEARLY_ALL_MISSING_PERCENT;
}

/** Returns the deposits that would each pay in full, even if the merchant lowered the threshold by accepting less. */
export function fullDepositsOf<Deposit extends { readonly units: bigint }>(
  payment: Pick<Payment, 'paidThresholdUnits' | 'usdUnits' | keyof ThresholdTerms>,
  deposits: readonly Deposit[],
): Deposit[] {
  const { paidThresholdUnits, usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints } = payment;
  const floor = computeMinPaidThreshold(usdUnits, maxProviderFeeBasisPoints, toleranceBasisPoints);
  const fullUnits = larger(larger(paidThresholdUnits, floor), DUST_LIMIT_UNITS);
  return deposits.filter(({ units }) => units >= fullUnits);
}

/** Percentage of the value at which a payment is overpaid. Exchange rates rarely move this far before delivery. */
const OVERPAID_FROM_PERCENT = 105n;
/** 0.10 USDC. A smaller surplus is ignored, and so is a smaller part, unless it exceeds a tenth of the threshold. */
const MIN_PART_UNITS = 100_000n;

/**
 * Returns whether a payment is partially paid or overpaid; null if neither, or if it is canceled. A payment is overpaid
 * if clearly more than its value arrived, or two full deposits, for example after two completed provider sessions.
 */
export function amountMismatchOf(
  payment: Pick<Payment, 'status'> & Parameters<typeof fullDepositsOf>[0],
  deposits: readonly { readonly units: bigint }[],
): AmountMismatch | null {
  if (payment.status === 'canceled') return null;
  const seenUnits = deposits.reduce((sum, { units }) => sum + units, 0n);
  if (payment.status === 'unpaid' && seenUnits < payment.paidThresholdUnits) {
    const isPart = seenUnits >= MIN_PART_UNITS || !isNearlyAllMissing(payment, seenUnits);
    return isPart ? 'partially_paid' : null;
  }
  const isClearlyMore = seenUnits * 100n >= payment.usdUnits * OVERPAID_FROM_PERCENT;
  // The surplus of a payment of a few cents may be a large share of it, but still too small to return.
  const isSignificant = seenUnits >= payment.usdUnits + MIN_PART_UNITS;
  return (isClearlyMore && isSignificant) || fullDepositsOf(payment, deposits).length >= 2
    ? 'overpaid'
    : null;
}
