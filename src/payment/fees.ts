import { invalidField } from './errors.ts';
import { BASIS_POINTS, formatCents, MAXIMUM_AMOUNT_CENTS, UNITS_PER_CENT } from './money.ts';
import type { Payment } from './payment.ts';

/** The deposit contract itself would allow more. */
export const MAXIMUM_FEE_BASIS_POINTS = 1_000;

/** The account's fee on a deposit, exactly as the deposit contract computes it. */
export function feeUnits(units: bigint, feeBasisPoints: number): bigint {
  return (units * BigInt(feeBasisPoints)) / BigInt(BASIS_POINTS);
}

/** Smallest gross in cents whose fee leaves at least `requestedCents`; Infinity for a fee of 100 %. */
export function grossUpCents(requestedCents: number, feeBasisPoints: number): number {
  if (feeBasisPoints >= BASIS_POINTS) return Number.POSITIVE_INFINITY;
  const requestedUnits = BigInt(requestedCents) * UNITS_PER_CENT;
  // A cent is 10,000 units and the fee has 1/10,000 steps, so whole cents need no rounding: the net of g cents is
  // exactly g × (10000 − bps) units, and the smallest g is this quotient rounded up.
  const netPerCent = BigInt(BASIS_POINTS - feeBasisPoints);
  return Number((requestedUnits + netPerCent - 1n) / netPerCent);
}

/** With pass-through, the smallest charge that leaves the requested net. Throws `invalid_request` above the maximum. */
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

/** Example of the account's fee, without the provider's. `isPassedThrough`: the customer pays the fee on top. */
export function feeExample(askedCents: number, feeBasisPoints: number, isPassedThrough: boolean) {
  const chargedCents = isPassedThrough ? grossUpCents(askedCents, feeBasisPoints) : askedCents;
  const units = BigInt(chargedCents) * UNITS_PER_CENT;
  const fee = feeUnits(units, feeBasisPoints);
  return { chargedCents, feeUnits: fee, merchantUnits: units - fee };
}
