import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChainReader } from '../../src/settlement/chain/chain.ts';
import { createChainReader } from '../../src/settlement/chain/create-chain-reader.ts';
import { createRelayer } from '../../src/settlement/chain/relayer.ts';
import { openSigner } from '../../src/settlement/chain/signer.ts';
import { createTokenReader } from '../../src/settlement/chain/token-reader.ts';
import { anvilKeys } from '../support/anvil.ts';
import type { AlteringProxy } from './altering-proxy.ts';
import { forgeHashes, hang, lagAt } from './endpoint-faults.ts';
import { addressFor, termsFor } from './local-chain.ts';
import { headsOf, useLocalChain, useProxies } from './use-chain.ts';

const TIMEOUT_MS = 2_000;

const chain = useLocalChain();
const hosts = useProxies(chain, { timeoutMs: TIMEOUT_MS });
const { connect, createReader } = hosts;
let proxies: readonly [AlteringProxy, AlteringProxy, AlteringProxy];

beforeAll(() => chain.anvil.mine(20));
beforeEach(async () => {
  await hosts.start(3);
  proxies = [hosts.proxy(0), hosts.proxy(1), hosts.proxy(2)];
});

const readHeads = (reader: ChainReader) => reader.withView(headsOf);

it.each([
  [200, 'answered'],
  [401, 'refused'],
  [403, 'refused'],
  [429, 'refused'],
  [500, 'failed'],
  [503, 'failed'],
] as const)('an answer with HTTP %i and no JSON-RPC error counts as %s', async (status, outcome) => {
  const outcomes: string[] = [];
  const [endpoint] = connect(1, { onCall: (_label, counted) => void outcomes.push(counted) });
  proxies[0].failWithStatus = status === 200 ? null : status;
  await endpoint?.readBlock('latest').catch(() => {});
  expect(outcomes).toEqual([outcome]);
});

describe('failing over', () => {
  it('goes on with the next endpoint at once after a failure and stays with it', async () => {
    const { reader } = createReader(2);
    proxies[0].failWithStatus = 503;
    expect((await readHeads(reader)).latest.number).toBe(await chain.anvil.blockNumber());
    proxies[0].failWithStatus = null;
    proxies[0].asked.length = 0;
    await readHeads(reader);
    // Asked only to confirm the finalized block, not for its own heads.
    expect(proxies[0].asked).toEqual(['eth_chainId', 'eth_getBlockByNumber']);
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
    const token = createTokenReader({ endpoints: connect(3), token: chain.token });
    proxies[0].failWithStatus = 500;
    proxies[1].alter = () => ({ error: { code: -32_005, message: 'rate limit' } });
    expect(await token.readBalance(addressFor('nobody'))).toBe(0n);
    proxies[2].failWithStatus = 500;
    await expect(token.readBalance(addressFor('nobody'))).rejects.toThrow(/no endpoint can be used: .*;.*;/);
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
  it('is not given, and reported, while two endpoints disagree', async () => {
    const { reader, doubts } = createReader(2);
    forgeHashes(proxies[1]);
    expect((await readHeads(reader)).final).toBeNull();
    expect(doubts).toMatchObject([{ kind: 'disputed' }]);
    expect(doubts[0]?.message).toContain(`0x${'ab'.repeat(32)}`);
    expect(reader.listEndpoints()).toMatchObject([
      { isFailing: false, disagreements: 1, lastDisagreement: { message: doubts[0]?.message } },
      { isFailing: false, disagreements: 1, lastDisagreement: { message: doubts[0]?.message } },
    ]);
    // Neither knows which of them is right, so the other one's word is not taken either.
    expect((await readHeads(reader)).final).toBeNull();
  });

  it.each([0, 1, 2] as const)(
    'names the one of three endpoints that has other blocks, as number %i, and no other',
    async (wrong) => {
      const { reader, doubts } = createReader(3);
      forgeHashes(proxies[wrong]);
      const label = new URL(proxies[wrong].url).host;
      await vi.waitFor(async () => {
        await readHeads(reader);
        expect(doubts.length).toBeGreaterThan(1);
      }, 10_000);
      expect((await readHeads(reader)).final).not.toBeNull();
      for (const doubt of doubts) {
        expect(doubt).toMatchObject({ kind: 'hash', endpoint: label });
        expect(doubt.message).toMatch(new RegExp(`^${label} contradicts the other hosts: block \\d+ is `));
      }
      const blamed = reader.listEndpoints().filter(({ disagreements }) => disagreements > 0);
      expect(blamed.map((endpoint) => endpoint.label)).toEqual([label]);
    },
  );

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

describe('a node that hangs', () => {
  /** How often each endpoint is asked while one of three hangs. */
  async function passesWithHung(place: 0 | 1 | 2, passes: number) {
    hang(proxies[place]);
    const { reader, doubts } = createReader(3);
    // The first pass may be the one that finds out.
    const firstStartedAtMs = performance.now();
    expect((await readHeads(reader)).final).not.toBeNull();
    const askedBefore = proxies[place].asked.length;
    const startedAtMs = performance.now();
    for (let pass = 0; pass < passes; pass++) expect((await readHeads(reader)).final).not.toBeNull();
    return {
      doubts,
      firstTookMs: startedAtMs - firstStartedAtMs,
      asked: proxies[place].asked.length - askedBefore,
      tookMs: performance.now() - startedAtMs,
    };
  }

  it.each([0, 1, 2] as const)(
    'holds up no pass for longer than a second, as number %i of three',
    async (place) => {
      // The quickest of three runs: a busy machine holds up single ones.
      let run = await passesWithHung(place, 20);
      for (let again = 0; again < 2 && Math.max(run.firstTookMs, run.tookMs) >= 1_000; again++)
        run = await passesWithHung(place, 20);
      const { asked, firstTookMs, tookMs, doubts } = run;
      expect(firstTookMs).toBeLessThan(1_000);
      expect(tookMs).toBeLessThan(1_000);
      expect(asked).toBeLessThanOrEqual(20);
      expect(doubts.filter(({ kind }) => kind === 'hash')).toEqual([]);
    },
  );

  it('is found out once for all that share the endpoints: the relayer does not wait for it as well', async () => {
    const endpoints = connect(3);
    hang(proxies[0]);
    const token = createTokenReader({ endpoints, token: chain.token });
    await token.readBalance(addressFor('nobody'));
    proxies[0].asked.length = 0;
    const { chainId } = chain.anvil;
    const relayer = createRelayer({ endpoints, chainId, signer: openSigner(anvilKeys[1]) });
    const startedAtMs = performance.now();
    const nonce = await relayer.readLatestTransactionCount();
    await relayer.readFinalTransactionCount(Number.MAX_SAFE_INTEGER);
    await relayer.readGasBalance();
    const fees = await relayer.quoteFees();
    const call = { kind: 'forward', factory: chain.factory, terms: [termsFor('hung')] } as const;
    const { rawTransaction } = await relayer.sign(call, nonce, await relayer.estimateGas(call), fees);
    await relayer.broadcast(rawTransaction);
    expect(performance.now() - startedAtMs).toBeLessThan(TIMEOUT_MS / 2);
    // Only what every endpoint is to have is sent to it as well, and not waited for.
    expect(new Set(proxies[0].asked)).toEqual(new Set(['eth_sendRawTransaction']));
  });

  it('is one of two: nothing is final meanwhile, that is reported, and it is asked again when it answers', async () => {
    const time = { nowMs: 0 };
    const { reader, doubts } = createReader(2, { monotonicMs: () => time.nowMs });
    hang(proxies[1]);
    expect((await readHeads(reader)).final).toBeNull();
    expect(doubts).toMatchObject([{ kind: 'unconfirmed' }]);
    expect(reader.listEndpoints()).toMatchObject([
      { isPaused: false, lagBlocks: 0 },
      { isPaused: true, lagBlocks: null },
    ]);
    proxies[1].alter = null;
    proxies[1].asked.length = 0;
    expect((await readHeads(reader)).final).toBeNull();
    expect(proxies[1].asked).toEqual([]);
    await vi.waitFor(async () => {
      time.nowMs += 5_000;
      expect((await readHeads(reader)).final).not.toBeNull();
    }, 10_000);
  });
});

describe('an answer that comes late', () => {
  /** Answers these methods only after the test is over. */
  function withhold(proxy: AlteringProxy, method: string): void {
    proxy.alter = (call, ask) => (call.method === method ? new Promise(() => {}) : ask(call));
  }

  it('in the middle of a pass lets another endpoint begin the pass again', async () => {
    const { reader } = createReader(3);
    withhold(proxies[0], 'eth_getLogs');
    const startedAtMs = performance.now();
    const passes: number[] = [];
    const { scannedTo } = await reader.withView(async (view) => {
      const { latest } = await headsOf(view);
      passes.push(latest.number);
      const query = { recipients: null };
      return view.readLogs({ ...query, fromBlock: 1, toBlock: latest.number });
    });
    expect(performance.now() - startedAtMs).toBeLessThan(TIMEOUT_MS - 500);
    expect(passes).toHaveLength(2);
    expect(scannedTo.number).toBe(passes[1]);
  });

  it('is waited for where every other endpoint is down', async () => {
    const { reader } = createReader(2);
    proxies[1].failWithStatus = 500;
    proxies[0].alter = async (call, ask) => {
      await new Promise((resolve) => setTimeout(resolve, 700));
      return ask(call);
    };
    await vi.waitFor(() => readHeads(reader), 10_000);
  });
});

describe('a slow endpoint', () => {
  const SLOW_MS = 700;

  function slowDown(proxy: AlteringProxy, ...methods: string[]): void {
    proxy.alter = async (call, ask) => {
      if (methods.includes(call.method)) await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return ask(call);
    };
  }

  async function readPass(reader: ChainReader): Promise<string> {
    return await reader.withView(async (view) => {
      const { latest } = await headsOf(view);
      const query = { recipients: null };
      await view.readLogs({ ...query, fromBlock: latest.number, toBlock: latest.number });
      return view.source;
    });
  }

  it.each([
    ['in everything', 'eth_getBlockByNumber', 'eth_getLogs', 'eth_chainId'],
    ['in logs alone', 'eth_getLogs'],
  ])(
    '(%s) does not stay the current one when the others are up again, and is named',
    async (_what, ...slow) => {
      const outcomes: string[] = [];
      const slowLabel = new URL(proxies[2].url).host;
      const { reader } = createReader(3, {
        onCall: (label, outcome) => void (label === slowLabel && outcomes.push(outcome)),
      });
      for (let pass = 0; pass < 3; pass++) await readPass(reader);
      slowDown(proxies[2], ...slow);
      proxies[0].failWithStatus = 503;
      proxies[1].failWithStatus = 503;
      expect(await readPass(reader)).toBe(slowLabel);
      proxies[0].failWithStatus = null;
      proxies[1].failWithStatus = null;
      await vi.waitFor(async () => expect(await readPass(reader)).not.toBe(slowLabel), 20_000);
      expect(await readPass(reader)).not.toBe(slowLabel);
      expect(reader.listEndpoints().map(({ isSlow }) => isSlow)).toEqual([false, false, true]);
      expect(outcomes.at(-1)).toBe('slow');
    },
  );

  it('is used at once where the others are down, and first again when it is as fast', async () => {
    const { reader } = createReader(2);
    slowDown(proxies[0], 'eth_getBlockByNumber');
    await readPass(reader);
    await readPass(reader);
    expect(reader.listEndpoints().map(({ isSlow }) => isSlow)).toEqual([true, false]);
    proxies[1].failWithStatus = 503;
    expect(await readPass(reader)).toBe(new URL(proxies[0].url).host);
    expect(reader.listEndpoints()[0]?.isSlow).toBe(false);
    proxies[1].failWithStatus = null;
    proxies[0].alter = null;
    await vi.waitFor(async () => {
      await readPass(reader);
      expect(reader.listEndpoints().map(({ isSlow }) => isSlow)).toEqual([false, false]);
    }, 10_000);
  });
});

describe('an endpoint whose head crawls', () => {
  /** It shows one more block with each pass, while the chain adds twenty. */
  async function passesWithCrawling(count: 1 | 2 | 3, passes: number) {
    const lags = new Map<string, number>();
    const reader = createChainReader({
      endpoints: connect(count),
      sources: { token: chain.token, factories: [chain.factory] },
      onLag: (label, blocks) => lags.set(label, blocks),
    });
    const start = await chain.anvil.blockNumber();
    const heads: number[] = [];
    for (let pass = 0; pass < passes; pass++) {
      lagAt(proxies[0], start + pass);
      await chain.anvil.mine(20);
      heads.push((await readHeads(reader)).latest.number - start);
    }
    const { label, lagBlocks } = reader.listEndpoints()[0] ?? {};
    expect([label, lagBlocks]).toEqual([new URL(proxies[0].url).host, lags.get(label ?? '')]);
    return { heads, lag: lagBlocks };
  }

  it('is left for another one where two other hosts are far ahead', async () => {
    const { heads, lag } = await passesWithCrawling(3, 4);
    expect(heads.slice(2)).toEqual([60, 80]);
    expect(lag).toBeGreaterThan(16);
  });

  it('is not left on the word of a single other one, which may have invented its height', async () => {
    const { heads, lag } = await passesWithCrawling(2, 4);
    expect(heads).toEqual([0, 1, 2, 3]);
    expect(lag).toBeGreaterThan(70);
  });

  it('is believed where it is the only one, and its lag counts as none', async () => {
    expect(await passesWithCrawling(1, 4)).toEqual({ heads: [0, 1, 2, 3], lag: 0 });
  });
});

describe('what one endpoint alone says to the relayer', () => {
  const quantityOf = (value: bigint) => `0x${value.toString(16)}`;

  it('about fees counts only where no other quote is lower, or where none else answers', async () => {
    const { chainId } = chain.anvil;
    const relayer = createRelayer({ endpoints: connect(2), chainId, signer: openSigner(anvilKeys[1]) });
    const honest = await relayer.quoteFees();
    proxies[0].alter = (call, ask) =>
      call.method === 'eth_feeHistory'
        ? { result: { baseFeePerGas: [quantityOf(honest.maxFeePerGas * 9n)], reward: [] } }
        : ask(call);
    expect((await relayer.quoteFees()).maxFeePerGas).toBe(honest.maxFeePerGas);
    proxies[1].failWithStatus = 500;
    expect((await relayer.quoteFees()).maxFeePerGas).toBeGreaterThan(honest.maxFeePerGas);
  });

  it('about its nonce, its balance or what was mined is never believed where two others contradict it', async () => {
    const { chainId } = chain.anvil;
    const relayer = createRelayer({ endpoints: connect(3), chainId, signer: openSigner(anvilKeys[1]) });
    const read = () =>
      Promise.all([
        relayer.readLatestTransactionCount(),
        relayer.readFinalTransactionCount(Number.MAX_SAFE_INTEGER),
        relayer.readGasBalance(),
        relayer.isAnyMined([`0x${'77'.repeat(32)}`]),
      ]);
    const honest = await read();
    for (const [place, lie] of [0, 1, 2].flatMap((one) =>
      ['0x0', '0xffffff'].map((two) => [one, two] as const),
    )) {
      for (const proxy of proxies) proxy.alter = null;
      (proxies[place] as AlteringProxy).alter = (call, ask) => {
        if (['eth_getTransactionCount', 'eth_getBalance'].includes(call.method)) return { result: lie };
        if (call.method !== 'eth_getTransactionReceipt') return ask(call);
        return { result: { transactionHash: call.params[0], blockNumber: '0x1', status: '0x1' } };
      };
      expect(await read()).toEqual(honest);
    }
  });
});

describe('two names of one host', () => {
  it('are one witness: they do not confirm each other, and alone they are believed', async () => {
    const named = [proxies[0].url, `${proxies[0].url.replace('127.0.0.1', 'localhost')}/second`];
    const together = createReader([...named, proxies[1].url]);
    proxies[1].failWithStatus = 500;
    expect((await readHeads(together.reader)).final).toBeNull();
    expect(together.doubts).toMatchObject([{ kind: 'unconfirmed' }]);
    expect((await readHeads(createReader(named).reader)).final).not.toBeNull();
  });
});
