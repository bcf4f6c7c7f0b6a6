import { expect, it } from 'vitest';
import { ChainUnavailableError, type ChainView } from '../domain/ports/chain.ts';
import { createWatchTasks } from './watch-tasks.ts';
import type { WorkerParts } from './worker-parts.ts';

const CURSOR = { number: 10, hash: 'hash of block 10', timestampMs: 0 };

/** One open payment whose address holds what the ledger does not know of, and nodes that fail at first. */
function partsWithMissedDeposit(failures: number) {
  let failuresLeft = failures;
  let deepScans = 0;
  const view = {
    readHeads: async () => ({ latest: CURSOR, final: CURSOR }),
    readBlock: async () => CURSOR,
    readLogs: async () => ({ transfers: [], forwarded: [], scannedTo: CURSOR }),
  } satisfies ChainView;
  const count = { inc: () => {} };
  const parts = {
    store: {
      ledger: {
        readCursor: async () => CURSOR,
        readExpiryFrontier: async () => '',
        recordMissed: async () => {
          deepScans++;
          return { added: 0 };
        },
      },
      payments: {
        listPaymentIds: async () => ['a payment'],
        viewPayment: async () => ({
          payment: { id: 'a payment', status: 'unpaid', depositAddress: '0x1' },
          ledger: { deposits: [], releases: [], finalBlock: 10 },
        }),
      },
    },
    world: {
      chain: {
        withView: async (use: (view: ChainView) => Promise<unknown>) => {
          if (failuresLeft-- > 0) throw new ChainUnavailableError('all nodes are down');
          return use(view);
        },
      },
      sweepBalances: async () => [5n],
      pace: { deepRescanBlocks: 100, sweepIntervalMs: 0 },
    },
    known: { catchUp: async () => {}, book: { addresses: null, isCandidate: () => false } },
    nowMs: () => 0,
    monotonicMs: () => 0,
    log: { error: () => {} },
    metrics: { unexplainedBalances: count, missedLogs: count },
  } as unknown as WorkerParts;
  const sweep = createWatchTasks(parts).find(({ name }) => name === 'sweep');
  return { run: () => sweep?.run(new AbortController().signal), deepScans: () => deepScans };
}

it('looks deeply again for an unexplained balance after the nodes failed in the middle of it', async () => {
  const { run, deepScans } = partsWithMissedDeposit(1);
  await expect(run()).rejects.toThrow(ChainUnavailableError);
  await run();
  expect(deepScans()).toBe(1);
});

it('looks deeply once for each unexplained balance', async () => {
  const { run, deepScans } = partsWithMissedDeposit(0);
  await run();
  await run();
  expect(deepScans()).toBe(1);
});
