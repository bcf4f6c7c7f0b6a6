/**
 * `npm run campaign`: the promises of docs/reliability.md, each tried against many faults. Ends with an error when
 * one was broken.
 *
 *   --seeds N          simulated runs (10,000)
 *   --seed S           the first of them; the others follow
 *   --store postgres   on PostgreSQL instead of SQLite
 */
import { randomInt } from 'node:crypto';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { emptyFindings } from './promises.ts';
import { formatFindings } from './report.ts';
import { runSeeds } from './simulation/run-seeds.ts';
import { openPostgresStores, openSqliteStores } from './simulation/stores.ts';

const { values: flags } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    store: { type: 'string', default: 'sqlite' },
  },
});

/** A whole number from a flag, or an error that names it. */
function readCount(name: 'seeds' | 'seed'): number {
  const count = Number(flags[name]);
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`--${name} is a whole number`);
  return count;
}

const firstSeed = readCount('seed');
const seeds = readCount('seeds');
const stores = flags.store === 'postgres' ? await openPostgresStores() : await openSqliteStores();
const findings = emptyFindings();
const startedAtMs = performance.now();
try {
  console.log(`${seeds} seeds from ${firstSeed} on ${flags.store}, ${cpus().length} × ${cpus()[0]?.model}`);
  await runSeeds({
    firstSeed,
    seeds,
    stores,
    findings,
    onProgress: (done) => console.log(`  ${done} seeds`),
  });
} finally {
  await stores.close();
}
console.log(formatFindings(findings));
console.log(`${Math.round((performance.now() - startedAtMs) / 1000)} s`);
process.exitCode = findings.violations.length === 0 ? 0 : 1;
