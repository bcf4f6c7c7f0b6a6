import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  feeExample,
  feeUnits,
  formatCents,
  formatUnits,
  grossUpCents,
  isCurrency,
  lessBasisPoints,
  MAXIMUM_AMOUNT_CENTS,
  parseAmountCents,
  parsePercentBasisPoints,
  parseUnits,
  parseUsdRate,
  UNITS_PER_CENT,
  usdUnits,
} from './money.ts';

const anyCents = fc.integer({ min: 1, max: MAXIMUM_AMOUNT_CENTS });
/** The largest fee an account can have is 1,000; the arithmetic must hold for all. */
const anyBasisPoints = fc.integer({ min: 0, max: 9_999 });
const RUNS = { numRuns: 2_000 };

/** What the merchant gets of a gross in cents, after the contract's fee. */
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

it('floors the fee, as the contract does', () => {
  expect(feeUnits(39n, 250)).toBe(0n);
  expect(feeUnits(40n, 250)).toBe(1n);
  expect(feeUnits(102_570_000n, 250)).toBe(2_564_250n);
});

it('reads every amount in cents that it writes, as text and as a JSON number', () => {
  fc.assert(
    fc.property(anyCents, (cents) => {
      expect(parseAmountCents(formatCents(cents))).toBe(cents);
      expect(parseAmountCents(cents / 100)).toBe(cents);
      expect(parseAmountCents(JSON.parse(formatCents(cents)))).toBe(cents);
    }),
    RUNS,
  );
});

it('reads an amount only in its one plain form', () => {
  fc.assert(
    fc.property(fc.oneof(fc.stringMatching(/^[-+ ]?[0-9.,e]{0,9}$/), fc.string()), (text) => {
      const cents = parseAmountCents(text);
      if (cents === null) return;
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d\d?)?$/);
      expect(Math.abs(Number(text) * 100 - cents)).toBeLessThan(1e-6);
      expect(cents).toBeGreaterThanOrEqual(1);
      expect(cents).toBeLessThanOrEqual(1_000_000);
    }),
    RUNS,
  );
});

it.each([
  ['1e3', null],
  ['0.00', null],
  ['0.01', 1],
  ['10000.00', 1_000_000],
  ['10000.01', null],
  ['10\n', null],
  [0.29, 29],
  [4.35, 435],
  [0.1 + 0.2, null],
  [-0, null],
  [1e-7, null],
  [1e21, null],
  [Number.NaN, null],
  [[10], null],
  [10n, null],
])('reads the amount %s as %s', (amount, cents) => {
  expect(parseAmountCents(amount)).toBe(cents);
});

it('reads every USDC amount that it writes', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (units) => {
      expect(parseUnits(formatUnits(units))).toBe(units);
    }),
    RUNS,
  );
});

it.each([
  ['12.34', 12_340_000n],
  ['0.000001', 1n],
  ['5', 5_000_000n],
  ['0.0000001', null],
  ['1e3', null],
  ['-1', null],
  ['', null],
])('reads %j USDC as %s units', (text, units) => {
  expect(parseUnits(text)).toBe(units);
});

it.each([
  ['2.5', 250],
  ['0', 0],
  ['100', 10_000],
  ['100.01', null],
  ['2.55', 255],
  ['2.555', null],
  ['-1', null],
  ['2,5', null],
])('reads %j percent as %s basis points', (text, basisPoints) => {
  expect(parsePercentBasisPoints(text)).toBe(basisPoints);
});

it.each([
  ['1.0874', 108_740_000n],
  ['1', 100_000_000n],
  ['123456789.5', 12_345_678_950_000_000n],
  ['1234567890', null],
  ['0.0119047619047', 1_190_476n],
  ['0', null],
  ['0.000000001', null],
  ['-1', null],
  ['1e2', null],
])('reads the rate %j as %s', (text, rate) => {
  expect(parseUsdRate(text)).toBe(rate);
});

it('values an amount in USD rounded down to the unit', () => {
  expect(usdUnits(1_800, 110_000_000n)).toBe(19_800_000n);
  expect(usdUnits(1, 1_190_476n)).toBe(119n);
});

it('never leaves more than there was, nor less than nothing', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.integer({ min: 0, max: 10_000 }),
      (units, basisPoints) => {
        const left = lessBasisPoints(units, basisPoints);
        expect(left >= 0n && left <= units).toBe(true);
      },
    ),
  );
});

it('knows four currencies, in capitals only', () => {
  expect(['USD', 'EUR', 'CAD', 'INR', 'usd', 'GBP', '', null, 5].filter(isCurrency)).toEqual([
    'USD',
    'EUR',
    'CAD',
    'INR',
  ]);
});

it.each([
  [100_00, 250, false, { chargedCents: 100_00, feeUnits: 2_500_000n, merchantUnits: 97_500_000n }],
  [100_00, 250, true, { chargedCents: 102_57, feeUnits: 2_564_250n, merchantUnits: 100_005_750n }],
  [100_00, 0, true, { chargedCents: 100_00, feeUnits: 0n, merchantUnits: 100_000_000n }],
  [1, 1_000, true, { chargedCents: 2, feeUnits: 2_000n, merchantUnits: 18_000n }],
])('of %i cents and %i basis points (passed through: %s)', (asked, fee, isPassedThrough, expected) => {
  expect(feeExample(asked, fee, isPassedThrough)).toEqual(expected);
});
