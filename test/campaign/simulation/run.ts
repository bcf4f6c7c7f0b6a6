import type { PartOptions, PromiseResult } from '../part.ts';
import { emptyFindings, type Findings } from '../promises.ts';
import { linesOf, resultsOf } from '../report.ts';
import { allTogether } from './events.ts';
import { runSeeds } from './run-seeds.ts';
import { openPostgresStores, openSqliteStores, type Stores } from './stores.ts';

export interface SimulationOptions extends PartOptions {
  /** How many runs, from `seed` on; as many as the form calls for where nobody says. */
  readonly seeds: number | null;
}

/** One instance alone with its file. */
export function runSimulation(options: SimulationOptions): Promise<readonly PromiseResult[]> {
  return run(options, openSqliteStores, options.seeds ?? (options.long ? 10_000 : 200));
}

/** One to three instances over one server. */
export function runInstances(options: SimulationOptions): Promise<readonly PromiseResult[]> {
  return run(options, openPostgresStores, options.seeds ?? (options.long ? 2_500 : 20));
}

async function run(
  { seed, log }: SimulationOptions,
  openStores: () => Promise<Stores>,
  seeds: number,
): Promise<readonly PromiseResult[]> {
  const findings = emptyFindings();
  const stores = await openStores();
  try {
    const onProgress = (done: number) => log(`${done} seeds, ${findings.violations.length} violations`);
    await runSeeds({ firstSeed: seed, seeds, stores, findings, onProgress });
  } finally {
    await stores.close();
  }
  for (const line of linesOf(findings)) log(line);
  return [...resultsOf(findings), ...(seeds < SEEDS_FOR_EVERY_PAIR ? [] : [togetherResult(findings, log)])];
}

/** So many seeds meet every pair of faults; fewer may miss one. */
const SEEDS_FOR_EVERY_PAIR = 2_500;

/** Whether each fault of the endpoints was met alone, and each two at once. What they break is in the other rows. */
function togetherResult({ together }: Findings, log: (line: string) => void): PromiseResult {
  const missing = allTogether().filter((names) => !together.has(names));
  if (missing.length > 0) log(`not met: ${missing.join(', ')}`);
  return {
    promise: 'Each of seven faults of endpoints occurs alone, and each two of them at once',
    cases: [...together.values()].reduce((sum, times) => sum + times, 0),
    violations: missing.length,
  };
}
