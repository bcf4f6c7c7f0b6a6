import { expect, it } from 'vitest';
import { feeExample } from './fee-example.ts';

it.each([
  [100_00, 250, false, { chargedCents: 100_00, feeUnits: 2_500_000n, merchantUnits: 97_500_000n }],
  [100_00, 250, true, { chargedCents: 102_57, feeUnits: 2_564_250n, merchantUnits: 100_005_750n }],
  [100_00, 0, true, { chargedCents: 100_00, feeUnits: 0n, merchantUnits: 100_000_000n }],
  [1, 1_000, true, { chargedCents: 2, feeUnits: 2_000n, merchantUnits: 18_000n }],
])('of %i cents and %i basis points (passed through: %s)', (asked, fee, isPassedThrough, expected) => {
  expect(feeExample(asked, fee, isPassedThrough)).toEqual(expected);
});
