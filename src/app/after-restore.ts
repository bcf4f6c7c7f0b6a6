import { ChainUnavailableError } from '../settlement/chain/chain.ts';
import { reachedByTwo } from '../settlement/chain/endpoint-rotation.ts';
import type { WorkerParts, WorkerTask } from './worker-parts.ts';

/** Difference of two endpoints above which one of them lags or lies, and would have events sent again. */
const MAXIMUM_LAG_BLOCKS = 100;

/** Records how high the chain is when a restored database is first served: events of these blocks may have been sent. */
async function recordRestore({ store, external: { chain }, nowMs, expiryMs, log }: WorkerParts) {
  if (!(await store.restores.isPending())) return;
  const heights = await chain.withEachView(async (view) => (await view.readLatest()).number);
  if (heights.length < Math.min(2, chain.listEndpoints().length))
    throw new ChainUnavailableError('only one endpoint says how high the chain is');
  const block = reachedByTwo(heights);
  if (heights.length === 2 && Math.max(...heights) - block > MAXIMUM_LAG_BLOCKS)
    throw new ChainUnavailableError('two endpoints disagree about how high the chain is');
  await store.restores.recordHeight(block, nowMs() - expiryMs);
  log.warn({ block }, 'the database was restored: what was due by this block is not sent again');
}

/** Holds tasks back until a restore is recorded, so that they neither send nor release anything before. */
export function afterRestore(tasks: readonly WorkerTask[], parts: WorkerParts): WorkerTask[] {
  let recorded: Promise<void> | null = null;
  return tasks.map((task) => ({
    ...task,
    async run(signal) {
      // A running service can be marked too.
      if (task.name === 'watch') recorded = null;
      recorded ??= recordRestore(parts);
      await recorded.catch((error) => {
        recorded = null;
        throw error;
      });
      return task.run(signal);
    },
  }));
}
