import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { emptyFindings } from '../promises.ts';
import { formatFindings } from '../report.ts';
import { runSeeds } from './run-seeds.ts';
import { openSqliteStores } from './stores.ts';

const SEEDS = 200;
/** A few seconds on an idle core; others may be at work beside it. */
const LONGEST_MS = 240_000;
const firstSeed = Number(process.env['CAMPAIGN_SEED'] ?? randomInt(2 ** 31));

it(
  `keeps every promise in ${SEEDS} simulated runs full of faults (CAMPAIGN_SEED=${firstSeed})`,
  async () => {
    const stores = await openSqliteStores();
    const findings = emptyFindings();
    try {
      await runSeeds({ firstSeed, seeds: SEEDS, stores, findings });
    } finally {
      await stores.close();
    }
    console.log(formatFindings(findings));
    expect(findings.violations).toEqual([]);
    // What was never looked at was not kept either.
    expect(Math.min(...findings.cases.values())).toBeGreaterThan(SEEDS / 2);
  },
  LONGEST_MS,
);
