import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { emptyFindings, type PromiseName } from '../promises.ts';
import { linesOf } from '../report.ts';
import { runSeeds } from './run-seeds.ts';
import { openPostgresStores, openSqliteStores } from './stores.ts';

/** A few seconds on an idle core; others may be at work beside it. */
const LONGEST_MS = 240_000;
const firstSeed = Number(process.env['CAMPAIGN_SEED'] ?? randomInt(2 ** 31));

it.each([
  { seeds: 120, of: 'one instance on SQLite', openStores: openSqliteStores },
  { seeds: 5, of: 'up to three instances on PostgreSQL', openStores: openPostgresStores },
])(
  `keeps every promise in $seeds simulated runs full of faults of $of (CAMPAIGN_SEED=${firstSeed})`,
  async ({ seeds, openStores }) => {
    const stores = await openStores();
    const findings = emptyFindings();
    try {
      await runSeeds({ firstSeed, seeds, stores, findings });
    } finally {
      await stores.close();
    }
    console.log(linesOf(findings).join('\n'));
    expect(findings.violations).toEqual([]);
    // What was never looked at was not kept either; in a few runs the rarer things need not come about.
    const least = (name: PromiseName) => findings.cases.get(name) ?? 0;
    expect(Math.min(least('conservation'), least('verified'), least('madeOnce'))).toBeGreaterThanOrEqual(
      seeds,
    );
    if (seeds >= 100) expect(Math.min(...findings.cases.values())).toBeGreaterThan(seeds / 2);
  },
  LONGEST_MS,
);
