import { type Plant, simulated } from './plant.ts';

/** The rows of a scan are there, and now and then the cursor is not: the same blocks are final a second time. */
export const lostCursorCommit: Plant = {
  fault: 'a lost cursor commit',
  file: 'src/store/observations.ts',
  changes: [
    {
      before: '  yield* addCheckpoint(scan.final);\n',
      after: '  if (scan.final.number % 7 !== 0) yield* addCheckpoint(scan.final);\n',
    },
  ],
  run: simulated,
  brokenPromise: '`verify` finds no discrepancy',
};
