import { expect, it, vi } from 'vitest';
import { type LocalChain, startBlockProducer } from './local-chain.ts';

/** Creates a fake chain that has only a height and a number of transactions per block. */
function createFakeChain() {
  const state = {
    height: 10,
    pending: 0,
    transactions: new Map<number, number>(),
    looks: 0,
    saves: 0,
    fails: false,
  };
  const answers: Record<string, (parameter: unknown) => unknown> = {
    eth_blockNumber: () => {
      state.looks++;
      if (state.fails) throw new Error('down');
      return `0x${state.height.toString(16)}`;
    },
    txpool_status: () => ({ pending: `0x${state.pending.toString(16)}`, queued: '0x0' }),
    eth_getBlockTransactionCountByNumber: (block) =>
      `0x${(state.transactions.get(Number(block)) ?? 0).toString(16)}`,
    evm_mine: () => {
      state.height++;
      state.transactions.set(state.height, state.pending);
      state.pending = 0;
      return '0x0';
    },
  };
  const rpc = { call: async (method: string, params: readonly unknown[]) => answers[method]?.(params[0]) };
  const chain = {
    rpc,
    save: async () => {
      state.saves++;
    },
  } as unknown as LocalChain;
  return { chain, state };
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

it('an idle chain does not grow', async () => {
  const { chain, state } = createFakeChain();
  const producer = startBlockProducer(chain, { log: silent, intervalMs: 2 });
  await vi.waitFor(() => expect(state.looks).toBeGreaterThan(20), 30_000);
  await producer.stop();
  expect(state.height).toBe(10);
  expect(state.saves).toBe(1);
});

it('a transaction is mined and followed by two blocks, then there is quiet again', async () => {
  const { chain, state } = createFakeChain();
  state.pending = 3;
  const producer = startBlockProducer(chain, { log: silent, intervalMs: 2 });
  await vi.waitFor(() => expect(state.looks).toBeGreaterThan(20), 30_000);
  await producer.stop();
  expect(state.height).toBe(13);
  expect(state.saves).toBe(3);
});

it('finalizes a transaction that another process mined', async () => {
  const { chain, state } = createFakeChain();
  state.transactions.set(10, 1);
  const producer = startBlockProducer(chain, { log: silent, intervalMs: 2 });
  await vi.waitFor(() => expect(state.looks).toBeGreaterThan(20), 30_000);
  await producer.stop();
  expect(state.height).toBe(12);
});

it('without anything to do a block comes now and then', async () => {
  const { chain, state } = createFakeChain();
  const producer = startBlockProducer(chain, { log: silent, intervalMs: 2, keepAliveMs: 20 });
  await vi.waitFor(() => expect(state.height).toBeGreaterThanOrEqual(13), 30_000);
  await producer.stop();
});

it('a chain that does not answer is asked again, and complained of once', async () => {
  const { chain, state } = createFakeChain();
  state.fails = true;
  state.pending = 1;
  const warn = vi.fn();
  const producer = startBlockProducer(chain, { log: { ...silent, warn }, intervalMs: 2 });
  await vi.waitFor(() => expect(state.looks).toBeGreaterThan(10), 30_000);
  expect(warn).toHaveBeenCalledTimes(1);
  state.fails = false;
  await vi.waitFor(() => expect(state.height).toBe(13), 30_000);
  await producer.stop();
});
