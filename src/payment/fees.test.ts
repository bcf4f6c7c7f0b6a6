import fc from 'fast-check';
import { expect, it } from 'vitest';
import { invalidField } from './errors.ts';
import { chargeWithFee, feeExample, feeUnits, grossUpCents } from './fees-and-paid-threshold.ts';
import { MAXIMUM_AMOUNT_CENTS, UNITS_PER_CENT } from './money.ts';

const anyCents = fc.integer({ min: 1, max: MAXIMUM_AMOUNT_CENTS });
/** Any fee below 100 %, although accounts allow at most 1,000 basis points. */
const anyBasisPoints = fc.integer({ min: 0, max: 9_999 });
/** Maximum amount in cents that can be requested when a fee of 2.5 % is passed to the customer. */
const largestPassedThrough = (MAXIMUM_AMOUNT_CENTS * 975) / 1_000;
const RUNS = { numRuns: 2_000 };

/** Returns what the merchant gets of a gross amount after the contract's fee. */
function netUnits(grossCents: number, basisPoints: number): bigint {
  const units = BigInt(grossCents) * UNITS_PER_CENT;
  return units - (units * BigInt(basisPoints)) / 10_000n;
}

it('never nets less than requested under fee pass-through', () => {
  fc.assert(
    fc.property(anyCents, anyBasisPoints, (requested, basisPoints) => {
      const gross = grossUpCents(requested, basisPoints);
      expect(netUnits(gross, basisPoints) >= BigInt(requested) * UNITS_PER_CENT).toBe(true);
    }),
    RUNS,
  );
});

it('charges the smallest gross in cents that nets what was requested', () => {
  fc.assert(
    fc.property(anyCents, anyBasisPoints, (requested, basisPoints) => {
      const gross = grossUpCents(requested, basisPoints);
      expect(netUnits(gross - 1, basisPoints) < BigInt(requested) * UNITS_PER_CENT).toBe(true);
    }),
    RUNS,
  );
});

it.each([
  [10_000, 250, 10_257],
  [10_000, 0, 10_000],
  [1, 1, 2],
  [1, 9_999, 10_000],
  [975_000, 250, 1_000_000],
  [975_001, 250, 1_000_002],
])('grosses %i cents up at %i basis points to %i', (requested, basisPoints, gross) => {
  expect(grossUpCents(requested, basisPoints)).toBe(gross);
});

it('has no gross for a fee of 100 percent', () => {
  expect(grossUpCents(1, 10_000)).toBe(Number.POSITIVE_INFINITY);
});

it.each([
  [{ amountCents: 100_00, passFeeToCustomer: false }, [100_00, null, null]],
  [{ amountCents: 100_00, passFeeToCustomer: true }, [102_57, 100_00, 2_57]],
  [{ amountCents: MAXIMUM_AMOUNT_CENTS, passFeeToCustomer: false }, [MAXIMUM_AMOUNT_CENTS, null, null]],
  [
    { amountCents: largestPassedThrough, passFeeToCustomer: true },
    [MAXIMUM_AMOUNT_CENTS, largestPassedThrough, MAXIMUM_AMOUNT_CENTS - largestPassedThrough],
  ],
])('charges %j with a fee of 2.5 %% as amount, requested amount and customer fee: %j', (asked, expected) => {
  const { amountCents, originalAmountCents, customerFeeCents } = chargeWithFee(asked, 250);
  expect([amountCents, originalAmountCents, customerFeeCents]).toEqual(expected);
});

it.each([
  [largestPassedThrough + 1, 250],
  [1, 10_000],
])('refuses %i cents whose fee of %i basis points takes the charge above the maximum', (cents, fee) => {
  const charge = () => chargeWithFee({ amountCents: cents, passFeeToCustomer: true }, fee);
  expect(charge).toThrow(invalidField('amount', 'including fees must not exceed 10000.00'));
});

it('floors the fee, as the contract does', () => {
  expect(feeUnits(39n, 250)).toBe(0n);
  expect(feeUnits(40n, 250)).toBe(1n);
  expect(feeUnits(102_570_000n, 250)).toBe(2_564_250n);
});

it.each([
  [100_00, 250, false, { chargedCents: 100_00, feeUnits: 2_500_000n, merchantUnits: 97_500_000n }],
  [100_00, 250, true, { chargedCents: 102_57, feeUnits: 2_564_250n, merchantUnits: 100_005_750n }],
  [100_00, 0, true, { chargedCents: 100_00, feeUnits: 0n, merchantUnits: 100_000_000n }],
  [1, 1_000, true, { chargedCents: 2, feeUnits: 2_000n, merchantUnits: 18_000n }],
])('of %i cents and %i basis points (passed through: %s)', (asked, fee, isPassedThrough, expected) => {
  expect(feeExample(asked, fee, isPassedThrough)).toEqual(expected);
});
