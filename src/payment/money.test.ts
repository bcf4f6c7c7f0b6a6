import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  formatCents,
  formatOptionalCents,
  formatRate,
  formatSigned,
  formatSignedCents,
  formatUnits,
  isCurrency,
  larger,
  lessBasisPoints,
  MAXIMUM_AMOUNT_CENTS,
  parseAmountCents,
  parsePercentBasisPoints,
  parseUnits,
  parseUsdRate,
  smaller,
  usdUnits,
} from './money.ts';

const anyCents = fc.integer({ min: 1, max: MAXIMUM_AMOUNT_CENTS });
const RUNS = { numRuns: 2_000 };

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
  ['0', null],
  ['0.0', null],
  ['0.1', 10],
  ['00.10', null],
  ['1.', null],
  ['1.234', null],
  ['9999.99', 999_999],
  ['10000', 1_000_000],
  ['10000.0', 1_000_000],
  ['10000.00', 1_000_000],
  ['10000.01', null],
  ['10000.10', null],
  ['10001', null],
  ['100000', null],
  ['1000.0', 100_000],
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
  ['999999999.999999', 999_999_999_999_999n],
  ['1000000000', null],
  ['1.', null],
  ['1,5', null],
  ['1e3', null],
  ['-1', null],
  ['1 USDC', null],
  ['', null],
])('reads %j USDC as %s units', (text, units) => {
  expect(parseUnits(text)).toBe(units);
});

it.each([
  ['2.5', 250],
  ['0', 0],
  ['100', 10_000],
  ['100.01', null],
  ['1000', null],
  ['.5', null],
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

it('knows four currencies, in capitals only', () => {
  expect(['USD', 'EUR', 'CAD', 'INR', 'usd', 'GBP', '', null, 5].filter(isCurrency)).toEqual([
    'USD',
    'EUR',
    'CAD',
    'INR',
  ]);
});

it('writes an amount that there may not be', () => {
  expect(formatOptionalCents(null)).toBeNull();
  expect(formatOptionalCents(0)).toBe('0.00');
});

it('writes a rate with its eight decimals, which reads as the same rate', () => {
  expect(formatRate(119n)).toBe('0.00000119');
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 16n }), (rate) => {
      expect(parseUsdRate(formatRate(rate))).toBe(rate);
    }),
  );
});

it('writes what the chain took back, and a discount, with a sign', () => {
  expect([-1n, 0n, 1n].map(formatSigned)).toEqual(['-0.000001', '0.000000', '0.000001']);
  expect([-1_05, 0, 1_05].map(formatSignedCents)).toEqual(['-1.05', '0.00', '1.05']);
});

it('finds the larger and the smaller of two amounts, in any order', () => {
  expect([larger(1n, 2n), larger(2n, 1n), larger(2n, 2n)]).toEqual([2n, 2n, 2n]);
  expect([smaller(1n, 2n), smaller(2n, 1n), smaller(1n, 1n)]).toEqual([1n, 1n, 1n]);
});

it('keeps the rest of an amount less a share, cut off', () => {
  expect(lessBasisPoints(10_001n, 250)).toBe(9_750n);
  expect(lessBasisPoints(5n, 10_000)).toBe(0n);
});
