import type { Findings } from '../promises.ts';
import { runSeed } from './run-seed.ts';
import type { Stores } from './stores.ts';

const PROGRESS_SEEDS = 500;

/** Runs so many seeds, each on an empty store. What a seed throws is its own violation. */
export async function runSeeds(options: {
  readonly firstSeed: number;
  readonly seeds: number;
  readonly stores: Stores;
  readonly findings: Findings;
  readonly onProgress?: (done: number) => void;
}): Promise<void> {
  const { firstSeed, seeds, stores, onProgress } = options;
  let begun = 0;
  let done = 0;
  async function runSome(): Promise<void> {
    while (begun < seeds) {
      await runOne(firstSeed + begun++, options);
      if (++done % PROGRESS_SEEDS === 0) onProgress?.(done);
    }
  }
  await Promise.all(Array.from({ length: stores.seedsAtATime }, runSome));
}

async function runOne(
  seed: number,
  { stores, findings }: { readonly stores: Stores; readonly findings: Findings },
): Promise<void> {
  const place = await stores.prepare();
  try {
    await runSeed(seed, findings, { open: place.open, instances: stores.instances });
  } catch (error) {
    findings.violations.push({ promise: 'noMistake', seed, detail: String((error as Error).stack) });
  } finally {
    await place.remove();
  }
}
