import type { Findings } from '../promises.ts';
import { runSeed } from './run-seed.ts';
import type { Stores } from './stores.ts';

const PROGRESS_SEEDS = 1_000;

/** Runs so many seeds one after the other, each on an empty store. What a seed throws is its own violation. */
export async function runSeeds(options: {
  readonly firstSeed: number;
  readonly seeds: number;
  readonly stores: Stores;
  readonly findings: Findings;
  readonly onProgress?: (done: number) => void;
}): Promise<void> {
  const { firstSeed, seeds, stores, findings, onProgress } = options;
  for (let done = 0; done < seeds; done++) {
    const seed = firstSeed + done;
    const place = await stores.prepare();
    try {
      await runSeed(seed, findings, { open: place.open, instances: stores.instances });
    } catch (error) {
      findings.violations.push({ promise: 'noMistake', seed, detail: String((error as Error).stack) });
    } finally {
      await place.remove();
    }
    if ((done + 1) % PROGRESS_SEEDS === 0) onProgress?.(done + 1);
  }
}
