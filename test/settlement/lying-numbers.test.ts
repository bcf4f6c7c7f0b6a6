import { parseTransaction } from 'viem/utils';
import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { defaultRelayLimits } from '../../src/settlement/batch-and-gas-limits.ts';
import { createChainEndpoint } from '../../src/settlement/chain/endpoint-rotation.ts';
import { createJsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import { toQuantity } from '../../src/settlement/chain/node-answers.ts';
import { useProxies } from '../chain/use-chain.ts';
import { useSettlement } from './harness.ts';

const { chain, settlement, reopen } = useSettlement();
const hosts = useProxies(chain);
const MINUTE_MS = 60_000;

type Answer = { result: unknown } | { error: { code: number; message: string } };

/**
 * Lets the relayer ask so many hosts, of which the first answers `method` with `lie`, `times` times or always. It is asked
 * first, however long it takes: a busy machine must not hide the lies.
 */
async function openBehindLiar(count: number, method: string, lie: Answer, times = Number.POSITIVE_INFINITY) {
  const liar = await hosts.start(count);
  const endpoints = hosts.proxies.map(({ url }) =>
    createChainEndpoint(createJsonRpcClient({ url, timeoutMs: 30_000 }), chain.anvil.chainId, {
      isOneOfSeveral: count > 1,
      minimumPatienceMs: Number.POSITIVE_INFINITY,
    }),
  );
  await reopen({ relayerEndpoints: hosts.closeLater(endpoints) });
  const told = { lies: 0 };
  liar.alter = (call, ask) => {
    if (call.method !== method || told.lies >= times) return ask(call);
    told.lies++;
    return lie;
  };
  return told;
}

/** Passes and blocks for so long at most, until all are paid. */
async function settleWithin(payments: readonly Payment[], limitMs: number): Promise<void> {
  const endMs = settlement.nowMs() + limitMs;
  const arePaid = async () => {
    const states = await Promise.all(payments.map((payment) => settlement.state(payment)));
    return states.every((state) => state === 'paid/completed');
  };
  while (!(await arePaid()) && settlement.nowMs() < endMs) {
    // What a pass cannot do the next one tries.
    await settlement.relay().catch(() => {});
    await settlement.mineAndWatch(2);
  }
  for (const payment of payments) {
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', releaseRefusals: 0 });
    expect((await settlement.observations(payment)).releases).toHaveLength(1);
    expect(await settlement.webhooks(payment)).toHaveLength(1);
  }
}

const reverted = { error: { code: 3, message: 'execution reverted: no' } };

/** What one host says about each number that is signed or stored, or that decides. */
const lies: readonly (readonly [method: string, lie: Answer])[] = [
  ['eth_estimateGas', { result: '0x1' }],
  ['eth_estimateGas', { result: '0x5208' }],
  ['eth_estimateGas', { result: '0x1ffffff' }],
  ['eth_estimateGas', { result: '0x4000000' }],
  ['eth_estimateGas', reverted],
  ['eth_getTransactionCount', { result: '0x0' }],
  ['eth_getTransactionCount', { result: '0xffffff' }],
  ['eth_getBalance', { result: '0x0' }],
  ['eth_feeHistory', { result: { baseFeePerGas: ['0x0'], reward: [['0x0']] } }],
  ['eth_feeHistory', { result: { baseFeePerGas: ['0xffffffffffff'], reward: [['0xffffffffffff']] } }],
  ['eth_call', { result: `0x${'0'.repeat(64)}` }],
  ['eth_call', reverted],
  ['eth_sendRawTransaction', { error: { code: -32_000, message: 'nonce too high' } }],
];

describe('one of three hosts that lies always', () => {
  it.each(lies)('about %s, with %j, delays no payment by more than a minute', async (method, lie) => {
    const told = await openBehindLiar(3, method, lie);
    await settleWithin(await settlement.createReady(1), MINUTE_MS);
    await settleWithin(await settlement.createReady(3), MINUTE_MS);
    expect(told.lies).toBeGreaterThan(0);
    await settlement.relay();
    expect(await settlement.openBatches()).toEqual([]);
    expect(settlement.incidents).toEqual([]);
  });
});

describe('one of two hosts', () => {
  it('that says that a release fails, or needs 1 gas, delays nothing', async () => {
    await openBehindLiar(2, 'eth_estimateGas', reverted);
    await settleWithin(await settlement.createReady(1), MINUTE_MS);
    await openBehindLiar(2, 'eth_estimateGas', { result: '0x1' });
    await settleWithin(await settlement.createReady(2), MINUTE_MS);
  });

  it('that shows no balance stops releases until it shows one', async () => {
    await openBehindLiar(2, 'eth_getBalance', { result: '0x0' });
    const payments = await settlement.createReady(1);
    await expect(settlement.relay()).rejects.toThrow('insufficient funds');
    expect(await settlement.openBatches()).toEqual([]);
    hosts.proxy(0).alter = null;
    await settleWithin(payments, MINUTE_MS);
  });
});

describe('the only host', () => {
  it.each([1, 3])(
    'that estimates 1 gas, for %i payments, has them signed anew with our own figure',
    async (count) => {
      await openBehindLiar(1, 'eth_estimateGas', { result: '0x1' });
      await settleWithin(await settlement.createReady(count), MINUTE_MS);
    },
  );

  it('that says once that a release fails puts it off, and it is released when it says so no longer', async () => {
    await openBehindLiar(1, 'eth_estimateGas', reverted, 1);
    const [payment] = (await settlement.createReady(1)) as [Payment];
    expect(await settlement.relay()).toBe('refused');
    expect(await settlement.state(payment)).toBe('unpaid/failed');
    settlement.advance(MINUTE_MS);
    await settleWithin([payment], MINUTE_MS);
  });

  it.each(['0x0', '0xffffff'])(
    'that counts %s transactions stops nothing for longer than it lies',
    async (lie) => {
      await settleWithin(await settlement.createReady(1), MINUTE_MS);
      await openBehindLiar(1, 'eth_getTransactionCount', { result: lie }, 20);
      await settleWithin(await settlement.createReady(2), 3 * MINUTE_MS);
    },
  );
});

describe('a batch that is never mined, though a node takes it', () => {
  it('is replaced by halves of it and at last by an empty transaction, also across restarts', async () => {
    const payments = await settlement.createReady(4);
    const held = new Set<string>();
    const sizes: number[] = [];
    let isLifted = false;
    settlement.faults.broadcast = async (raw, send) => {
      const { data = '0x', nonce } = parseTransaction(raw as `0x${string}`);
      const isCall = data !== '0x';
      if (!isCall && nonce === first?.nonce) isLifted = true;
      if (isCall && !isLifted) held.add(raw);
      else await send();
    };
    await settlement.relay();
    const [first] = await settlement.openBatches();
    for (let minute = 0; minute < 60 && !isLifted; minute++) {
      await settlement.relay();
      const [head] = await settlement.openBatches();
      if (head !== undefined && sizes.at(-1) !== head.paymentIds.length) sizes.push(head.paymentIds.length);
      await settlement.mine();
      settlement.advance(MINUTE_MS);
      if (minute % 5 === 4) await settlement.crash();
    }
    expect(sizes).toEqual([4, 2, 1, 0]);
    expect(held.size).toBeGreaterThanOrEqual(3);
    await settleWithin(payments, 10 * MINUTE_MS);
  });

  it.each([
    ['it', 100],
    ['what fills the nonce before it', 100],
    ['what fills the nonce before it', 80],
  ])('is released at the present fees after %s was signed at %i % of the maximum', async (dear, percent) => {
    const dearFee = (defaultRelayLimits.maximumFeePerGas * BigInt(percent)) / 100n;
    const dearest = { maxFeePerGas: dearFee, maxPriorityFeePerGas: dearFee };
    const isGap = dear !== 'it';
    if (isGap) {
      const count = await settlement.relayer.readLatestTransactionCount();
      await openBehindLiar(1, 'eth_getTransactionCount', { result: toQuantity(count + 1) });
    }
    const payments = await settlement.createReady(2);
    // One host takes what is so dear and drops it; the others refuse it, as the balance does not cover it.
    settlement.faults.broadcast = async (raw, send) => {
      if ((parseTransaction(raw as `0x${string}`).maxFeePerGas ?? 0n) < dearFee) await send();
    };
    if (isGap) {
      await settlement.relay();
      hosts.proxy(0).alter = null;
      await settlement.relay();
      settlement.advance(defaultRelayLimits.nonceGapPatienceMs);
    }
    settlement.faults.fees = dearest;
    await settlement.relay();
    settlement.faults.fees = null;
    expect((await settlement.openBatches())[0]?.attempts).toMatchObject([dearest]);
    for (let minute = 0; minute < 12; minute++) {
      settlement.advance(MINUTE_MS);
      await settlement.relay();
    }
    await settleWithin(payments, 3 * MINUTE_MS);
  });
});
