import { expect, it } from 'vitest';
import {
  gasLimitFor,
  leastPlausibleGas,
  lowGasWei,
  MAXIMUM_TRANSACTION_GAS,
  polOf,
  releaseGas,
  releasesPaidBy,
} from './gas.ts';

const GWEI = 10n ** 9n;

it('figures the gas of a transaction from what it shares and from its releases', () => {
  expect([1, 2, 100].map(releaseGas)).toEqual([150_500n, 246_000n, 9_605_000n]);
  expect(leastPlausibleGas(150_501n)).toBe(75_250n);
});

it('limits gas to a quarter above the need, and to what Polygon takes', () => {
  expect(gasLimitFor(100_003n)).toBe(125_003n);
  expect(MAXIMUM_TRANSACTION_GAS).toBe(33_554_432n);
  expect(gasLimitFor(MAXIMUM_TRANSACTION_GAS)).toBe(MAXIMUM_TRANSACTION_GAS);
});

it('asks for POL below three full batches of 12 million gas, and counts a hundred releases to each', () => {
  const quote = { maxFeePerGas: 100n * GWEI };
  expect(lowGasWei(quote)).toBe(3_601_875_000n * GWEI);
  expect(releasesPaidBy(lowGasWei(quote), quote)).toBe(300);
  expect(releasesPaidBy(lowGasWei(quote) - 1n, quote)).toBe(299);
});

it('shows POL to a millionth, cut off', () => {
  expect(polOf(1_234_567_999_999_999_999n)).toBe(1.234567);
});
