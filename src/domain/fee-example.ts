import { feeUnits, grossUpCents, UNITS_PER_CENT } from './money.ts';

/** What a fee means for one payment that is paid in full; what a provider takes for itself is left out. */
export interface FeeExample {
  /** What the customer is charged. */
  readonly chargedCents: number;
  /** The account's fee, as the deposit contract computes it. */
  readonly feeUnits: bigint;
  /** What reaches the merchant. */
  readonly merchantUnits: bigint;
}

/**
 * An amount that a merchant asks for, under a fee.
 *
 * @param isPassedThrough whether the customer pays the fee on top, so that the merchant gets what was asked for
 */
export function feeExample(askedCents: number, feeBasisPoints: number, isPassedThrough: boolean): FeeExample {
  const chargedCents = isPassedThrough ? grossUpCents(askedCents, feeBasisPoints) : askedCents;
  const units = BigInt(chargedCents) * UNITS_PER_CENT;
  const fee = feeUnits(units, feeBasisPoints);
  return { chargedCents, feeUnits: fee, merchantUnits: units - fee };
}
