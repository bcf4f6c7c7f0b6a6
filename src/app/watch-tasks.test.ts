import { expect, it } from 'vitest';
import { BRIDGED_USDC } from '../payment/provider-catalog.ts';
import { ChainUnavailableError, type ChainView, type MistakenToken } from '../settlement/chain/chain.ts';
import { createWatchTasks } from './watch-tasks.ts';
import type { WorkerParts } from './worker-parts.ts';

const SWEEP_INTERVAL_MS = 600_000;
const CURSOR = { number: 10, hash: 'hash of block 10', timestampMs: 0 };

/** Creates parts with one open payment, whose address holds an unobserved deposit, and nodes that fail at first. */
function partsWithMissedDeposit(
  failures: number,
  {
    mistakenToken = undefined as MistakenToken | undefined,
    added = 0,
    portion = 100,
    warn = (_fields: unknown, _message: string): void => {},
  } = {},
) {
  let failuresLeft = failures;
  const time = { nowMs: 0 };
  let deepScans = 0;
  const blocksLeft: number[] = [];
  const view = {
    source: 'node',
    readLatest: async () => ({ ...CURSOR, parentHash: 'hash of block 9' }),
    readFinal: async () => CURSOR,
    readBlock: async () => CURSOR,
    readLogs: async ({ fromBlock, toBlock }) => {
      const scannedTo = { ...CURSOR, number: Math.min(fromBlock + portion - 1, toBlock) };
      return { transfers: [], forwarded: [], rescued: [], scannedTo };
    },
    confirmLogs: async () => true,
    readTransactionBlock: async () => null,
    confirmBlock: async () => true,
    confirmReplacement: async () => 'confirmed',
  } satisfies ChainView;
  const count = { inc: () => {} };
  const parts = {
    store: {
      observations: {
        readCursor: async () => CURSOR,
        readExpiryWatermark: async () => '',
        listMissing: async () => ({ deposits: [{ blockNumber: 9 }], releases: [], rescues: [] }),
        recordMissed: async () => {
          deepScans++;
          return { added };
        },
      },
      payments: {
        listDepositAddresses: async () => null,
        findDepositOwners: async () => [],
        listPaymentIds: async () => ['a payment'],
        viewPayment: async () => ({
          payment: { id: 'a payment', status: 'unpaid', depositAddress: '0x1' },
          observations: { deposits: [], releases: [], finalBlock: 10 },
        }),
      },
    },
    external: {
      chain: {
        withEachView: async (use: (view: ChainView) => Promise<number>) => {
          if (failuresLeft-- > 0) throw new ChainUnavailableError('all nodes are down');
          return [await use(view)];
        },
      },
      sweepBalances: async () => [5n],
      mistakenToken,
      intervals: { deepRescanBlocks: 100, sweepIntervalMs: SWEEP_INTERVAL_MS },
    },
    nowMs: () => 0,
    monotonicMs: () => time.nowMs,
    log: { error: () => {}, warn },
    metrics: {
      unexplainedBalances: count,
      missedLogs: count,
      rescanBlocks: { set: (blocks: number) => blocksLeft.push(blocks) },
    },
  } as unknown as WorkerParts;
  const sweep = createWatchTasks(parts).find(({ name }) => name === 'sweep');
  return {
    time,
    run: () => sweep?.run(new AbortController().signal),
    deepScans: () => deepScans,
    blocksLeft,
  };
}

it('looks deeply again for an unexplained balance after the nodes failed in the middle of it', async () => {
  const { run, time, deepScans } = partsWithMissedDeposit(1);
  await expect(run()).rejects.toThrow(ChainUnavailableError);
  time.nowMs += SWEEP_INTERVAL_MS;
  await run();
  expect(deepScans()).toBe(1);
});

it('looks deeply again for a balance that a deep rescan did not explain, after a pause that doubles', async () => {
  const { run, time, deepScans } = partsWithMissedDeposit(0);
  const scansAtSweep: number[] = [];
  for (let sweep = 0; sweep < 16; sweep++) {
    await run();
    scansAtSweep.push(deepScans());
    time.nowMs += SWEEP_INTERVAL_MS;
  }
  expect(scansAtSweep).toEqual([1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5]);
});

it('shows how many blocks a second scan has still to read', async () => {
  const { run, blocksLeft } = partsWithMissedDeposit(0, { portion: 4 });
  await run();
  expect(blocksLeft).toEqual([7, 3, 0]);
});

it('says how many events an earlier scan missed', async () => {
  const warned: unknown[] = [];
  const { run } = partsWithMissedDeposit(0, { added: 2, warn: (...line) => void warned.push(line) });
  await run();
  expect(warned).toEqual([[{ added: 2 }, 'an earlier scan missed events, which are now recorded']]);
});

it('names another token at the address of an open payment once, with the command that rescues it', async () => {
  const warned: string[] = [];
  const { run, time } = partsWithMissedDeposit(0, {
    mistakenToken: { contract: BRIDGED_USDC, sweepBalances: async () => [7n] },
    warn: (_fields, message) => void warned.push(message),
  });
  for (let sweep = 0; sweep < 13; sweep++) {
    await run();
    time.nowMs += SWEEP_INTERVAL_MS;
  }
  expect(warned).toEqual([
    `The deposit address holds bridged USDC (USDC.e, ${BRIDGED_USDC}), which does not count as paid. To send it to the merchant, run: payment rescue a payment --token ${BRIDGED_USDC}`,
  ]);
});
