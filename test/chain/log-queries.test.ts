import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ChainReader, LogQuery } from '../../src/settlement/chain/chain.ts';
import type { AlteringProxy } from './altering-proxy.ts';
import { lagAt } from './endpoint-faults.ts';
import { addressFor } from './local-chain.ts';
import { headsOf, useLocalChain, useProxies } from './use-chain.ts';

/** What a node answers to a request for logs, and what is believed of it. */

const chain = useLocalChain();
const hosts = useProxies(chain);
let proxy: AlteringProxy;
let reader: ChainReader;

beforeAll(() => chain.anvil.mine(20));
beforeEach(async () => {
  proxy = await hosts.start(1);
  reader = hosts.createReader(1).reader;
});

const readHeads = () => reader.withView(headsOf);
const readLogs = (query: LogQuery) => reader.withView((view) => view.readLogs(query));

describe('a node that is behind', () => {
  it('is noticed instead of being believed that there are no logs', async () => {
    const fromBlock = (await chain.anvil.blockNumber()) + 1;
    await chain.callToken({ name: 'mint', to: addressFor('lagging'), units: 5n });
    const query = { fromBlock, toBlock: fromBlock, recipients: [addressFor('lagging')] };
    lagAt(proxy, fromBlock - 1);
    await expect(readLogs(query)).rejects.toThrow(/is behind/);
    proxy.alter = null;
    expect((await readLogs(query)).transfers).toHaveLength(1);
  });

  it('is noticed by a head that falls back further than any reorganization', async () => {
    await chain.anvil.mine(300);
    await readHeads();
    lagAt(proxy, (await chain.anvil.blockNumber()) - 290);
    await expect(readHeads()).rejects.toThrow(/fell back/);
    lagAt(proxy, (await chain.anvil.blockNumber()) - 5);
    await readHeads();
  });
});

describe('an endpoint that allows few blocks', () => {
  it('is asked for fewer until it answers, and nothing is missed', async () => {
    const recipient = addressFor('few blocks');
    const fromBlock = (await chain.anvil.blockNumber()) + 1;
    for (const units of [1n, 2n, 3n]) {
      await chain.callToken({ name: 'mint', to: recipient, units });
      await chain.anvil.mine(9);
    }
    const toBlock = await chain.anvil.blockNumber();
    let refusals = 0;
    proxy.alter = (call, ask) => {
      if (call.method !== 'eth_getLogs') return ask(call);
      const [filter] = call.params as [{ fromBlock: string; toBlock: string }];
      if (Number(filter.toBlock) - Number(filter.fromBlock) < 5) return ask(call);
      refusals++;
      return { error: { code: -32_602, message: 'eth_getLogs is limited to a 5 range' } };
    };
    const found: bigint[] = [];
    let next = fromBlock;
    while (next <= toBlock) {
      const query = { fromBlock: next, toBlock, recipients: [recipient] };
      const { transfers, scannedTo } = await readLogs(query);
      found.push(...transfers.map(({ units }) => units));
      next = scannedTo.number + 1;
    }
    expect(found).toEqual([1n, 2n, 3n]);
    // Both queries of a request are refused; 30, 15 and 7 blocks, and 6 when 3 had worked; no more.
    expect(refusals).toBe(2 * 4);
  });
});

describe('the filter', () => {
  it('names up to a thousand recipients, and above that none', async () => {
    const named: unknown[] = [];
    proxy.alter = (call, ask) => {
      const [filter] = call.params as [{ address: unknown; topics: unknown[] }];
      if (call.method === 'eth_getLogs' && filter.address === chain.token) {
        named.push((filter.topics[2] as unknown[] | undefined)?.length ?? null);
      }
      return ask(call);
    };
    const many = Array.from({ length: 1_001 }, (_, index) => addressFor(`filtered ${index}`));
    for (const recipients of [many.slice(0, 1), many.slice(0, 1_000), many, null]) {
      const query = { fromBlock: 1, toBlock: 2, recipients };
      await readLogs(query);
    }
    expect(named).toEqual([1, 1_000, null, null]);
  });
});

describe('logs that nobody asked for', () => {
  const log = (changes: object) => ({
    address: chain.token,
    topics: [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      `0x${'00'.repeat(32)}`,
      `0x${'00'.repeat(12)}${addressFor('target').slice(2).toLowerCase()}`,
    ],
    data: `0x${'00'.repeat(31)}05`,
    blockNumber: '0x1',
    logIndex: '0x0',
    transactionHash: `0x${'11'.repeat(32)}`,
    removed: false,
    ...changes,
  });

  const cases = [
    ['another contract', () => [log({ address: addressFor('fake token') })], /another contract/],
    ['another block', () => [log({ blockNumber: '0x9' })], /another block/],
    ['a removed block', () => [log({ removed: true })], /removed block/],
    ['another event', () => [log({ topics: [`0x${'22'.repeat(32)}`] })], /another event/],
    ['too little data', () => [log({ data: '0x05' })], /malformed transfer/],
    ['no number', () => [log({ blockNumber: 1 })], /malformed block number/],
    ['the same log twice', () => [log({}), log({})], /the same log twice/],
    ['no list', () => null, /something else than a list/],
  ] as const;

  it.each(cases)('are refused: %s', async (_name, logs, message) => {
    const isAltered = ({ method, params }: { method: string; params: readonly unknown[] }) =>
      method === 'eth_getLogs' && (params[0] as { address: unknown }).address === chain.token;
    proxy.alter = (call, ask) => (isAltered(call) ? { result: logs() } : ask(call));
    const query = { fromBlock: 1, toBlock: 2, recipients: [addressFor('target')] };
    await expect(readLogs(query)).rejects.toThrow(message);
  });
});
