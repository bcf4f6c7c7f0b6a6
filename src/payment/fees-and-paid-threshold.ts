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

/** Maximum fee of an account. The deposit contract itself would allow more. */
export const MAXIMUM_FEE_BASIS_POINTS = 1_000;

/** Returns the account's fee on a deposit, exactly as the deposit contract computes it. */
export function feeUnits(units: bigint, feeBasisPoints: number): bigint {
  return (units * BigInt(feeBasisPoints)) / BigInt(BASIS_POINTS);
}

/** Returns the smallest gross in cents whose fee leaves at least `requestedCents`; Infinity for a fee of 100 %. */
export function grossUpCents(requestedCents: number, feeBasisPoints: number): number {
  if (feeBasisPoints >= BASIS_POINTS) return Number.POSITIVE_INFINITY;
  const requestedUnits = BigInt(requestedCents) * UNITS_PER_CENT;
  // A cent is 10,000 units and the fee has steps of 1/10,000, so whole cents need no rounding. The net of g cents is
  // exactly g × (10000 − bps) units, and the smallest g is this quotient rounded up.
  const netPerCent = BigInt(BASIS_POINTS - feeBasisPoints);
  return Number((requestedUnits + netPerCent - 1n) / netPerCent);
}

/** Returns the charge, which pass-through raises to keep the net. Throws `invalid_request` above the maximum. */
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

/** Computes an example of the account's fee, without the provider's. `isPassedThrough` adds the fee to the charge. */
export function feeExample(askedCents: number, feeBasisPoints: number, isPassedThrough: boolean) {
  const chargedCents = isPassedThrough ? grossUpCents(askedCents, feeBasisPoints) : askedCents;
  const units = BigInt(chargedCents) * UNITS_PER_CENT;
  const fee = feeUnits(units, feeBasisPoints);
  return { chargedCents, feeUnits: fee, merchantUnits: units - fee };
}

// The paid threshold is the minimum sum of deposits with which a card payment is paid in full. Until a session starts,
// it is the charge's USD value less the tolerance. A session lowers it to the provider's delivery less the tolerance,
// plus earlier deposits if the session is for the rest. The threshold never rises, because an on-ramp may deliver long
// after its session has expired. No session lowers it below what the maximum provider fee and the tolerance leave,
// because anyone with the link can start a session and pay from a wallet. Only a merchant may accept less
// (`acceptPayment`).

/** Terms set for all accounts, or for one account. A payment keeps the terms from its creation. */
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

/** Maximum settings. Together they lower the threshold to a quarter of the charge. */
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

/** Returns at least one unit, so that no payment starts as paid. */
export function computePaidThreshold(expectedUnits: bigint, toleranceBasisPoints: number): bigint {
  return larger(1n, lessBasisPoints(expectedUnits, toleranceBasisPoints));
}

/** Returns the whole value, or one cent less if tolerated. Below one USD, it is 1 % less, as a cent is too much. */
export function directThreshold(expectedUnits: bigint, toleratesMissingCent: boolean): bigint {
  if (!toleratesMissingCent) return computePaidThreshold(expectedUnits, 0);
  if (expectedUnits < 100n * UNITS_PER_CENT) return computePaidThreshold(expectedUnits, 100);
  return expectedUnits - UNITS_PER_CENT;
}

/** Returns the lowest threshold that any session can lead to. */
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

/** Returns the lowest of the current threshold and these sessions' thresholds, ignoring those below the minimum. */
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

/** Returns the threshold without the effect of sessions for the rest. */
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

/** Returns the minimum delivery for a charge of this USD value, rounded up. */
export function minDeliveryUnits(chargedUsdUnits: bigint, maxProviderFeeBasisPoints: number): bigint {
  return chargedUsdUnits - feeUnits(chargedUsdUnits, maxProviderFeeBasisPoints);
}

/** Returns the smallest amount in USD cents at which the assumed fee fits; null if its percentage alone is too high. */
export function minUsdCentsForFee(provider: ProviderId, maxProviderFeeBasisPoints: number): number | null {
  const { feeBasisPoints, minimumFeeUsdCents } = providerCatalog[provider];
  if (feeBasisPoints > maxProviderFeeBasisPoints) return null;
  return Math.ceil((minimumFeeUsdCents * 10_000) / maxProviderFeeBasisPoints);
}

/** Returns the smallest amount in USD cents at which an excessive quoted fee would fit if it stayed the same. */
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
 * Minimum plausible quote, as a share of the assumed delivery. A lower one is probably a defect, such as cents read
 * as dollars, and would let a fraction of the price count as paid.
 */
const MIN_SHARE_OF_ASSUMED_PERCENT = 80n;
/** Maximum plausible quote as a share of the charge's value, including two percent for moving exchange rates. */
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

/** 0.01 USDC. Sums below both this and the threshold change no state, so senders of single units have no effect. */
const DUST_LIMIT_UNITS = UNITS_PER_CENT;

export function isDust({ paidThresholdUnits }: Pick<Payment, 'paidThresholdUnits'>, units: bigint): boolean {
  return units < DUST_LIMIT_UNITS && units < paidThresholdUnits;
}

/** Missing share of the threshold at which deposits stop counting as an attempt to pay. */
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

/** Returns deposits that each pay in full. If a merchant accepted less, the minimum of any session applies instead. */
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
/** 0.10 USDC. A surplus or a part below this is not significant, unless the part exceeds a tenth of the threshold. */
const MIN_PART_UNITS = 100_000n;

/**
 * Returns whether a payment is partially paid or overpaid. Overpaid means that clearly more than its value arrived, or
 * two full deposits, as after two finished provider sessions. Null if neither is significant, or once it is canceled.
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
  // The surplus of a payment worth cents may be a large share, but too small to return.
  const isSignificant = seenUnits >= payment.usdUnits + MIN_PART_UNITS;
  return (isClearlyMore && isSignificant) || fullDepositsOf(payment, deposits).length >= 2
    ? 'overpaid'
    : null;
}
