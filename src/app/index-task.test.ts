import { expect, it } from 'vitest';
import { createIndexTask } from './index-task.ts';

const signal = new AbortController().signal;

/** A store in which a portion is full as long as there is something left. */
function storeWith(portions: number) {
  let frontier = 0;
  return {
    payments: {
      listDepositAddresses: async (afterRow: number, limit: number) =>
        Array.from({ length: afterRow < portions * limit ? limit : 0 }, (_, index) => ({
          row: afterRow + index + 1,
        })) as never,
    },
    search: {
      readIndexFrontier: async () => frontier,
      indexPayments: async (_afterRow: number, throughRow: number) => {
        frontier = throughRow;
      },
      countPaid: async () => 0,
    },
  };
}

it('goes on at once while there is more and the process has little else to do', async () => {
  const task = createIndexTask(storeWith(2), () => 0.2);
  expect([await task.run(signal), await task.run(signal), await task.run(signal)]).toEqual([
    true,
    true,
    false,
  ]);
});

it('takes small portions with pauses between them while the process is busy with requests', async () => {
  const store = storeWith(2);
  const task = createIndexTask(store, () => 0.9);
  expect(await task.run(signal)).toBe(true);
  expect(await store.search.readIndexFrontier()).toBe(20);
  expect([await task.run(signal), await task.run(signal)]).toEqual([true, false]);
});

it('pauses for a second where requests leave it nothing, and goes on at once when it is to end', async () => {
  const stopping = new AbortController();
  const store = storeWith(2);
  const task = createIndexTask(store, () => 0.98);
  const startedMs = performance.now();
  await task.run(stopping.signal);
  expect(await store.search.readIndexFrontier()).toBe(20);
  expect(performance.now() - startedMs).toBeGreaterThan(950);
  const last = task.run(stopping.signal);
  stopping.abort();
  expect(await last).toBe(true);
});
