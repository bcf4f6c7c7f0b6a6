import type { Plant } from './plant.ts';

/** Only the first answer is judged, and the others are tried when it does not answer. */
export const privateAddress: Plant = {
  fault: 'a private address allowed at delivery',
  file: 'src/webhooks/deliver.ts',
  changes: [
    {
      before: 'of isAllowed ? [] : resolution.addresses)',
      after: 'of isAllowed ? [] : resolution.addresses.slice(0, 1))',
    },
  ],
  run: ['--only', 'delivery', '--short', '--seed', '1'],
  brokenPromise: 'No webhook goes to a private address',
};
