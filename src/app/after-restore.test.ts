import { expect, it } from 'vitest';
import { afterRestore } from './worker.ts';
import type { WorkerParts } from './worker-parts.ts';

/** Runs a task of a restored database while the endpoints report these heights. Resolves to the recorded height. */
async function recordedWith(heights: readonly number[]) {
  let recorded: number | null = null;
  const parts = {
    store: {
      restores: {
        isPending: async () => recorded === null,
        recordHeight: async (block: number) => {
          recorded = block;
        },
      },
    },
    external: { chain: { withEachView: async () => heights, listEndpoints: () => heights } },
    nowMs: () => 0,
    expiryMs: 0,
    log: { warn() {} },
  } as unknown as WorkerParts;
  const [task] = afterRestore([{ name: 'watch', intervalMs: 1, run: async () => undefined }], parts);
  await task?.run(AbortSignal.timeout(1_000));
  return recorded;
}

it('records no height after a restore while one of two endpoints lags or lies', async () => {
  expect(await recordedWith([5_000, 4_990])).toBe(4_990);
  expect(await recordedWith([5_000, 4_990, 0])).toBe(4_990);
  expect(await recordedWith([9_000_000, 5_000, 4_990])).toBe(5_000);
  await expect(recordedWith([5_000, 0])).rejects.toThrow(/disagree/);
});
