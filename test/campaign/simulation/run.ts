import type { PartOptions, PromiseResult } from '../part.ts';
import { emptyFindings } from '../promises.ts';
import { linesOf, resultsOf } from '../report.ts';
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
  return resultsOf(findings);
}
