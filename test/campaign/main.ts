/**
 * `npm run campaign`, the stress suite: tests the promises of docs/reliability.md under fault injection. Prints one table, and ends
 * with an error when a promise was broken.
 *
 *   --only part,part   these parts only; all of them otherwise
 *   --seed S           decides every choice; the first of the seeds, where there are several. Random and printed otherwise
 *   --short            a few minutes instead of hours; --long, the default, may be said as well
 *   --seeds N          simulated runs; without --only, only the simulation
 *   --store postgres   simulated on PostgreSQL instead of SQLite: the part "instances"
 */
import { randomInt } from 'node:crypto';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { type Part, parts } from './parts.ts';
import { formatTable, type PartReport } from './report.ts';
import type { SimulationOptions } from './simulation/run.ts';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    seeds: { type: 'string' },
    store: { type: 'string' },
    short: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
  },
});

function readCount(name: string, value: string): number {
  const count = Number(value);
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`--${name} is a whole number`);
  return count;
}

function chooseParts(): readonly Part[] {
  const isSimulationOnly = flags.seeds !== undefined || flags.store !== undefined;
  const simulated = flags.store === 'postgres' ? 'instances' : 'simulation';
  const wanted = flags.only ?? (isSimulationOnly ? simulated : parts.map(({ name }) => name).join(','));
  return wanted.split(',').map((name) => {
    const part = parts.find((one) => one.name === name);
    if (part !== undefined) return part;
    throw new RangeError(`there is no part ${name}, only ${parts.map((one) => one.name).join(', ')}`);
  });
}

/** A part that cannot run counts as a violation. */
async function runPart({ name, load }: Part, options: SimulationOptions): Promise<PartReport> {
  const startedAtMs = performance.now();
  const log = (line: string) => options.log(`  ${name}: ${line}`);
  try {
    const run = await load();
    return { part: name, results: await run({ ...options, log }) };
  } catch (error) {
    log((error as Error).stack ?? String(error));
    return { part: name, results: [{ promise: `The part "${name}" runs`, cases: 1, violations: 1 }] };
  } finally {
    log(`took ${Math.round((performance.now() - startedAtMs) / 1000)} s`);
  }
}

async function runCampaign(): Promise<boolean> {
  const seed = readCount('seed', flags.seed);
  const seeds = flags.seeds === undefined ? null : readCount('seeds', flags.seeds);
  const chosen = chooseParts();
  const names = chosen.map(({ name }) => name).join(', ');
  console.log(`${names} from seed ${seed}, ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`);
  const reports: PartReport[] = [];
  for (const part of chosen) {
    reports.push(await runPart(part, { seed, seeds, long: !flags.short, log: (line) => console.log(line) }));
  }
  console.log(formatTable(reports));
  return reports.every(({ results }) => results.every(({ violations }) => violations === 0));
}

const isKept = await runCampaign();
// A part that failed may have left something open, which would keep the process from ending.
process.exit(isKept ? 0 : 1);
