import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ChainEndpoint,
  closeChainEndpoints,
  createChainEndpoints,
} from '../../src/chain/chain-endpoint.ts';
import type { FinalityDoubt } from '../../src/chain/confirm-final-block.ts';
import { createChainReader } from '../../src/chain/create-chain-reader.ts';
import { createTokenReader } from '../../src/chain/token-reader.ts';
import { type ChainReader, ChainUnavailableError } from '../../src/domain/ports/chain.ts';
import { type AlteringProxy, startAlteringProxy } from './altering-proxy.ts';
import { addressFor, type LocalChain, startLocalChain } from './local-chain.ts';

let chain: LocalChain;
let proxies: readonly [AlteringProxy, AlteringProxy, AlteringProxy];
let opened: (readonly ChainEndpoint[])[];

beforeAll(async () => {
  chain = await startLocalChain();
  await chain.anvil.mine(20);
});

afterAll(() => chain.stop());

beforeEach(async () => {
  const start = () => startAlteringProxy(chain.anvil.url);
  proxies = [await start(), await start(), await start()];
  opened = [];
});

afterEach(async () => {
  for (const endpoints of opened) await closeChainEndpoints(endpoints);
  for (const proxy of proxies) await proxy.stop();
});

function open(count: number): readonly ChainEndpoint[] {
  const urls = proxies.slice(0, count).map(({ url }) => url);
  const endpoints = createChainEndpoints({ urls, chainId: chain.anvil.chainId, timeoutMs: 2_000 });
  opened.push(endpoints);
  return endpoints;
}

function createReader(count: number): { reader: ChainReader; doubts: FinalityDoubt[] } {
  const doubts: FinalityDoubt[] = [];
  const reader = createChainReader({
    endpoints: open(count),
    sources: { token: chain.token, factories: [chain.factory] },
    onDisagreement: (doubt) => doubts.push(doubt),
  });
  return { reader, doubts };
}

const readHeads = (reader: ChainReader) => reader.withView((view) => view.readHeads());

/** Answers like a node that knows no block above this one. */
function lagAt(proxy: AlteringProxy, head: number): void {
  proxy.alter = async (call, ask) => {
    const [tag] = call.params as [unknown];
    if (call.method === 'eth_getLogs') {
      const [filter] = call.params as [{ fromBlock: string }];
      return Number(filter.fromBlock) > head ? { result: [] } : ask(call);
    }
    if (call.method !== 'eth_getBlockByNumber') return ask(call);
    if (tag === 'latest') return ask({ ...call, params: [`0x${head.toString(16)}`, false] });
    if (tag === 'finalized') return ask({ ...call, params: [`0x${(head - 2).toString(16)}`, false] });
    return Number(tag) > head ? { result: null } : ask(call);
  };
}

/** Shows every block with a hash that is not its own. */
function forgeHashes(proxy: AlteringProxy): void {
  proxy.alter = async (call, ask) => {
    const answer = await ask(call);
    if (call.method !== 'eth_getBlockByNumber' || answer.result === null) return answer;
    return { result: { ...(answer.result as object), hash: `0x${'ab'.repeat(32)}` } };
  };
}

describe('failing over', () => {
  it('uses the next endpoint after a failure and stays with it', async () => {
    const { reader } = createReader(2);
    proxies[0].failWithStatus = 503;
    await expect(readHeads(reader)).rejects.toThrow(ChainUnavailableError);
    expect((await readHeads(reader)).latest.number).toBe(await chain.anvil.blockNumber());
    proxies[0].failWithStatus = null;
    proxies[0].asked.length = 0;
    await readHeads(reader);
    // Asked only to confirm the finalized block, not for its own heads.
    expect(proxies[0].asked).toEqual(['eth_chainId', 'eth_getBlockByNumber']);
  });

  it('reads all of one pass from one endpoint', async () => {
    const { reader } = createReader(2);
    await reader.withView(async (view) => {
      const { latest } = await view.readHeads();
      proxies[1].asked.length = 0;
      await view.readBlock(1);
      await view.readLogs({
        fromBlock: 1,
        toBlock: latest.number,
        recipients: null,
        isCandidate: () => true,
      });
    });
    expect(proxies[1].asked).toEqual([]);
  });

  it('does not blame the endpoint for an error of the caller', async () => {
    const { reader } = createReader(2);
    await expect(
      reader.withView(() => {
        throw new Error('the disk is full');
      }),
    ).rejects.toThrow('the disk is full');
    await reader.withView((view) => view.readBlock(1));
    expect(proxies[1].asked).toEqual([]);
  });

  it('answers from whichever endpoint can', async () => {
    const token = createTokenReader({ endpoints: open(3), token: chain.token });
    proxies[0].failWithStatus = 500;
    proxies[1].alter = () => ({ error: { code: -32_005, message: 'rate limit' } });
    expect(await token.readBalance(addressFor('nobody'))).toBe(0n);
    proxies[2].failWithStatus = 500;
    await expect(token.readBalance(addressFor('nobody'))).rejects.toThrow(/no endpoint answered: .*;.*;/);
  });

  it('refuses an endpoint of another chain, also one that changes behind its address after a failure', async () => {
    const { reader } = createReader(1);
    await readHeads(reader);
    await readHeads(reader);
    expect(proxies[0].asked.filter((method) => method === 'eth_chainId')).toHaveLength(1);
    proxies[0].failWithStatus = 502;
    await expect(readHeads(reader)).rejects.toThrow('HTTP 502');
    proxies[0].failWithStatus = null;
    proxies[0].alter = (call, ask) => (call.method === 'eth_chainId' ? { result: '0x1' } : ask(call));
    await expect(readHeads(reader)).rejects.toThrow(`serves chain 1, not ${chain.anvil.chainId}`);
  });
});

describe('finality', () => {
  it('needs a second endpoint with the same hash', async () => {
    const { reader, doubts } = createReader(2);
    const { latest, final } = await readHeads(reader);
    expect(final?.number).toBe(latest.number - 2);
    expect(doubts).toEqual([]);
  });

  it('is not given, and reported, while two endpoints disagree', async () => {
    const { reader, doubts } = createReader(2);
    forgeHashes(proxies[1]);
    expect((await readHeads(reader)).final).toBeNull();
    expect(doubts).toMatchObject([{ kind: 'hash' }]);
    expect(doubts[0]?.message).toContain(`0x${'ab'.repeat(32)}`);
    // Neither knows which of them is right, so the other one's word is not taken either.
    expect((await readHeads(reader)).final).toBeNull();
  });

  it('leaves an endpoint that all others contradict', async () => {
    const { reader, doubts } = createReader(3);
    forgeHashes(proxies[0]);
    expect((await readHeads(reader)).final).toBeNull();
    expect(doubts.map(({ kind }) => kind)).toEqual(['hash', 'hash']);
    const { final } = await readHeads(reader);
    expect(final?.hash).toBe((await chain.endpoints[0]?.readBlock(final?.number ?? 0))?.hash);
  });

  it('is not given, and reported, while no second endpoint answers', async () => {
    const { reader, doubts } = createReader(2);
    proxies[1].failWithStatus = 500;
    expect((await readHeads(reader)).final).toBeNull();
    expect(doubts).toMatchObject([{ kind: 'unconfirmed' }]);
  });

  it('goes as far as an endpoint that is behind can confirm', async () => {
    const { reader, doubts } = createReader(2);
    const head = await chain.anvil.blockNumber();
    lagAt(proxies[1], head - 6);
    const { latest, final } = await readHeads(reader);
    expect(latest.number).toBe(head);
    expect(final?.number).toBe(head - 8);
    expect(doubts).toEqual([]);
  });
});

describe('a node that is behind', () => {
  it('is noticed instead of being believed that there are no logs', async () => {
    const { reader } = createReader(1);
    const fromBlock = (await chain.anvil.blockNumber()) + 1;
    await chain.callToken({ name: 'mint', to: addressFor('lagging'), units: 5n });
    const query = {
      fromBlock,
      toBlock: fromBlock,
      recipients: [addressFor('lagging')],
      isCandidate: () => false,
    };
    lagAt(proxies[0], fromBlock - 1);
    await expect(reader.withView((view) => view.readLogs(query))).rejects.toThrow(/is behind/);
    proxies[0].alter = null;
    expect((await reader.withView((view) => view.readLogs(query))).transfers).toHaveLength(1);
  });

  it('is noticed also when it falls behind between the heads and the logs', async () => {
    const { reader } = createReader(1);
    await expect(
      reader.withView(async (view) => {
        const { latest } = await view.readHeads();
        lagAt(proxies[0], latest.number - 1);
        const query = { recipients: [addressFor('lagging')], isCandidate: () => false };
        return view.readLogs({ ...query, fromBlock: latest.number, toBlock: latest.number });
      }),
    ).rejects.toThrow(/is behind/);
  });

  it('is noticed also when it catches up just after it has answered with no logs', async () => {
    const { reader } = createReader(1);
    const toBlock = await chain.anvil.blockNumber();
    let hasAnsweredLogs = false;
    proxies[0].alter = (call, ask) => {
      if (call.method === 'eth_getLogs') {
        hasAnsweredLogs = true;
        return { result: [] };
      }
      return call.method === 'eth_getBlockByNumber' && !hasAnsweredLogs ? { result: null } : ask(call);
    };
    const query = {
      fromBlock: toBlock,
      toBlock,
      recipients: [addressFor('lagging')],
      isCandidate: () => false,
    };
    await expect(reader.withView((view) => view.readLogs(query))).rejects.toThrow(/is behind/);
    expect(hasAnsweredLogs).toBe(false);
  });

  it('is noticed when the chain changes during the scan', async () => {
    const { reader } = createReader(1);
    let asked = 0;
    proxies[0].alter = async (call, ask) => {
      const answer = await ask(call);
      if (call.method !== 'eth_getBlockByNumber' || ++asked < 2) return answer;
      return { result: { ...(answer.result as object), hash: `0x${'cd'.repeat(32)}` } };
    };
    const query = { fromBlock: 1, toBlock: 2, recipients: [addressFor('lagging')], isCandidate: () => false };
    await expect(reader.withView((view) => view.readLogs(query))).rejects.toThrow(/changed block 2/);
  });

  it('is noticed by a head that falls back further than any reorganisation', async () => {
    const { reader } = createReader(1);
    await chain.anvil.mine(300);
    await readHeads(reader);
    lagAt(proxies[0], (await chain.anvil.blockNumber()) - 290);
    await expect(readHeads(reader)).rejects.toThrow(/fell back/);
    lagAt(proxies[0], (await chain.anvil.blockNumber()) - 5);
    await readHeads(reader);
  });
});

describe('an endpoint that allows few blocks', () => {
  it('is asked for fewer until it answers, and nothing is missed', async () => {
    const { reader } = createReader(1);
    const recipient = addressFor('few blocks');
    const fromBlock = (await chain.anvil.blockNumber()) + 1;
    for (const units of [1n, 2n, 3n]) {
      await chain.callToken({ name: 'mint', to: recipient, units });
      await chain.anvil.mine(9);
    }
    const toBlock = await chain.anvil.blockNumber();
    let refusals = 0;
    proxies[0].alter = (call, ask) => {
      if (call.method !== 'eth_getLogs') return ask(call);
      const [filter] = call.params as [{ fromBlock: string; toBlock: string }];
      if (Number(filter.toBlock) - Number(filter.fromBlock) < 5) return ask(call);
      refusals++;
      return { error: { code: -32_602, message: 'eth_getLogs is limited to a 5 range' } };
    };
    const found: bigint[] = [];
    let next = fromBlock;
    while (next <= toBlock) {
      const query = { fromBlock: next, toBlock, recipients: [recipient], isCandidate: () => false };
      const { transfers, scannedTo } = await reader.withView((view) => view.readLogs(query));
      found.push(...transfers.map(({ units }) => units));
      next = scannedTo.number + 1;
    }
    expect(found).toEqual([1n, 2n, 3n]);
    // Both queries of a request are refused; 30, 15 and 7 blocks, and 6 when 3 had worked; no more.
    expect(refusals).toBe(2 * 4);
  });

  it('is not asked again at once when it says that it is asked too often', async () => {
    const { reader } = createReader(1);
    proxies[0].alter = (call, ask) =>
      call.method === 'eth_getLogs'
        ? { error: { code: -32_005, message: 'rate limit exceeded' } }
        : ask(call);
    const query = { fromBlock: 1, toBlock: 9, recipients: [addressFor('any')], isCandidate: () => false };
    await expect(reader.withView((view) => view.readLogs(query))).rejects.toThrow(/rate limit/);
    expect(proxies[0].asked.filter((method) => method === 'eth_getLogs')).toHaveLength(2);
  });
});

describe('the filter', () => {
  it('names up to a thousand recipients, and above that none', async () => {
    const { reader } = createReader(1);
    const named: unknown[] = [];
    proxies[0].alter = (call, ask) => {
      const [filter] = call.params as [{ address: unknown; topics: unknown[] }];
      if (call.method === 'eth_getLogs' && filter.address === chain.token) {
        named.push((filter.topics[2] as unknown[] | undefined)?.length ?? null);
      }
      return ask(call);
    };
    const many = Array.from({ length: 1_001 }, (_, index) => addressFor(`filtered ${index}`));
    for (const recipients of [many.slice(0, 1), many.slice(0, 1_000), many, null]) {
      const query = { fromBlock: 1, toBlock: 2, recipients, isCandidate: () => false };
      await reader.withView((view) => view.readLogs(query));
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
    const { reader } = createReader(1);
    proxies[0].alter = (call, ask) => (call.method === 'eth_getLogs' ? { result: logs() } : ask(call));
    const query = { fromBlock: 1, toBlock: 2, recipients: [addressFor('target')], isCandidate: () => false };
    await expect(reader.withView((view) => view.readLogs(query))).rejects.toThrow(message);
  });
});
