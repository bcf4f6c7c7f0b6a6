import { type Plant, simulated } from './plant.ts';

/** The contract rounds down: of half of all amounts the service now expects one unit more. */
export const roundingError: Plant = {
  fault: 'a rounding error of one unit',
  file: 'src/domain/fees.ts',
  changes: [
    {
      before: '  return (units * BigInt(feeBasisPoints)) / BigInt(BASIS_POINTS);\n',
      after: '  return (units * BigInt(feeBasisPoints) + BigInt(BASIS_POINTS / 2)) / BigInt(BASIS_POINTS);\n',
    },
  ],
  run: simulated,
  brokenPromise: '`verify` finds no discrepancy',
};
