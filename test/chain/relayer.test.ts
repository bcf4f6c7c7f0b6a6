import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CallRevertedError,
  ChainUnavailableError,
  type FeeQuote,
  type RelayCall,
  type Relayer,
  type TokenReader,
  TransactionRefusedError,
} from '../../src/settlement/chain/chain.ts';
import { closeChainEndpoints, createChainEndpoints } from '../../src/settlement/chain/endpoint-rotation.ts';
import { createRelayer } from '../../src/settlement/chain/relayer.ts';
import { createTokenReader } from '../../src/settlement/chain/token-reader.ts';
import { anvilKeys } from '../support/anvil.ts';
import { startAlteringProxy } from './altering-proxy.ts';
import { addressFor, deployTestUsdc, type LocalChain, startLocalChain, termsFor } from './local-chain.ts';

let chain: LocalChain;
let relayer: Relayer;
let token: TokenReader;

beforeAll(async () => {
  chain = await startLocalChain({ mining: 'manual' });
  relayer = createRelayer({
    endpoints: chain.endpoints,
    chainId: chain.anvil.chainId,
    privateKey: anvilKeys[1],
  });
  token = createTokenReader({ endpoints: chain.endpoints, token: chain.token });
});

afterAll(() => chain.stop());

async function fund(name: string, units: bigint): Promise<RelayCall> {
  const terms = termsFor(name);
  await chain.callToken({ name: 'mint', to: chain.depositOf(terms), units });
  await chain.anvil.mine();
  return { kind: 'forward', factory: chain.factory, terms: [terms] };
}

async function sign(call: RelayCall, fees?: FeeQuote) {
  const nonce = await relayer.readLatestTransactionCount();
  const gasLimit = await relayer.estimateGas(call);
  return relayer.sign(call, nonce, gasLimit, fees ?? (await relayer.quoteFees()));
}

async function receiptOf(hash: string) {
  return (await chain.anvil.rpc('eth_getTransactionReceipt', [hash])) as { status: string } | null;
}

describe('a release', () => {
  it('signed and broadcast pays the merchant and the fee wallet', async () => {
    const feesBefore = await token.readBalance(addressFor('fee wallet'));
    const call = await fund('plain release', 20_000_000n);
    const { hash, rawTransaction } = await sign(call);
    await relayer.broadcast(rawTransaction);
    await chain.anvil.mine();
    expect((await receiptOf(hash))?.status).toBe('0x1');
    expect(await token.readBalance(addressFor('merchant of plain release'))).toBe(19_500_000n);
    expect((await token.readBalance(addressFor('fee wallet'))) - feesBefore).toBe(500_000n);
  });

  it('of several payments goes out in one transaction', async () => {
    const calls = [await fund('batch 1', 1_000_000n), await fund('batch 2', 2_000_000n)];
    const { rawTransaction } = await sign({
      kind: 'forward',
      factory: chain.factory,
      terms: calls.flatMap(({ terms }) => terms),
    });
    await relayer.broadcast(rawTransaction);
    await chain.anvil.mine();
    expect(await token.readBalance(addressFor('merchant of batch 1'))).toBe(975_000n);
    expect(await token.readBalance(addressFor('merchant of batch 2'))).toBe(1_950_000n);
  });

  it('signed twice is the same bytes, and sends nothing by itself', async () => {
    const call = await fund('signed only', 1_000_000n);
    const fees = await relayer.quoteFees();
    expect(await sign(call, fees)).toEqual(await sign(call, fees));
    await chain.anvil.mine();
    expect(await token.readBalance(addressFor('merchant of signed only'))).toBe(0n);
  });

  it('broadcast again, waiting or mined, is no error and moves nothing twice', async () => {
    const call = await fund('twice', 4_000_000n);
    const { rawTransaction } = await sign(call);
    await relayer.broadcast(rawTransaction);
    await relayer.broadcast(rawTransaction);
    await chain.anvil.mine();
    const count = await relayer.readLatestTransactionCount();
    await relayer.broadcast(rawTransaction);
    await chain.anvil.mine();
    expect(await relayer.readLatestTransactionCount()).toBe(count);
    expect(await token.readBalance(addressFor('merchant of twice'))).toBe(3_900_000n);
  });

  it('with a higher fee and the same nonce replaces the waiting one', async () => {
    const call = await fund('bumped', 4_000_000n);
    const fees = await relayer.quoteFees();
    const first = await sign(call, fees);
    const higher = {
      maxFeePerGas: (fees.maxFeePerGas * 5n) / 4n,
      maxPriorityFeePerGas: (fees.maxPriorityFeePerGas * 5n) / 4n,
    };
    const second = await sign(call, higher);
    expect(second.hash).not.toBe(first.hash);
    expect(second).toMatchObject(higher);
    await relayer.broadcast(first.rawTransaction);
    await relayer.broadcast(second.rawTransaction);
    await chain.anvil.mine();
    expect(await receiptOf(first.hash)).toBeNull();
    expect((await receiptOf(second.hash))?.status).toBe('0x1');
    expect(await token.readBalance(addressFor('merchant of bumped'))).toBe(3_900_000n);
  });
});

describe('a rescue', () => {
  const rescueOf = (name: string, other: `0x${string}`): RelayCall => ({
    kind: 'rescue',
    factory: chain.factory,
    terms: [termsFor(name)],
    token: other,
  });

  it('sends another token to the merchant', async () => {
    await chain.anvil.rpc('evm_setAutomine', [true]);
    const other = await deployTestUsdc(chain.deployer);
    await chain.anvil.rpc('evm_setAutomine', [false]);
    const deposit = chain.depositOf(termsFor('rescue'));
    await chain.callToken({ name: 'mint', to: deposit, units: 7n, token: other });
    await chain.anvil.mine();
    await relayer.broadcast((await sign(rescueOf('rescue', other))).rawTransaction);
    await chain.anvil.mine();
    const otherToken = createTokenReader({ endpoints: chain.endpoints, token: other });
    expect(await otherToken.readBalance(addressFor('merchant of rescue'))).toBe(7n);
  });

  it('of the payment token is known to fail before anything is signed', async () => {
    await fund('not rescuable', 5n);
    await expect(relayer.estimateGas(rescueOf('not rescuable', chain.token))).rejects.toThrow(
      CallRevertedError,
    );
  });

  it('of several payments at once does not exist', async () => {
    const terms = [termsFor('one'), termsFor('two')];
    const call = { ...rescueOf('one', addressFor('token')), terms } as RelayCall;
    await expect(relayer.estimateGas(call)).rejects.toThrow(/one payment at a time/);
  });
});

describe('the transaction counts', () => {
  it('of the newest and of the finalized block differ until the release is final', async () => {
    const call = await fund('final count', 1_000_000n);
    await chain.anvil.mine(3);
    const readFinal = () => relayer.readFinalTransactionCount(Number.MAX_SAFE_INTEGER);
    const before = await readFinal();
    await relayer.broadcast((await sign(call)).rawTransaction);
    await chain.anvil.mine();
    expect(await relayer.readLatestTransactionCount()).toBe(before + 1);
    expect(await readFinal()).toBe(before);
    await chain.anvil.mine(2);
    expect(await readFinal()).toBe(before + 1);
    const finalNumber = (await chain.anvil.blockNumber()) - 2;
    expect(await relayer.readFinalTransactionCount(finalNumber)).toBe(before + 1);
    // What the watcher has not read is not final yet.
    expect(await relayer.readFinalTransactionCount(finalNumber - 1)).toBe(0);
  });
});

describe('the transaction counts of another address', () => {
  it('are those of that address', async () => {
    const deployer = privateKeyToAddress(chain.deployer.privateKey);
    const other = await chain.anvil.rpc('eth_getTransactionCount', [deployer, 'latest']);
    const own = await relayer.readLatestTransactionCount();
    expect(Number(other)).not.toBe(own);
    expect(await relayer.readLatestTransactionCount(deployer)).toBe(Number(other));
    expect(await relayer.readFinalTransactionCount(Number.MAX_SAFE_INTEGER, deployer)).toBeLessThanOrEqual(
      Number(other),
    );
    expect(await relayer.readFinalTransactionCount(Number.MAX_SAFE_INTEGER, addressFor('nobody'))).toBe(0);
    expect(await relayer.readLatestTransactionCount()).toBe(own);
  });
});

describe('gas and fees', () => {
  it('the gas limit is the estimate and a quarter', async () => {
    const call = await fund('gas', 1_000_000n);
    const proxy = await startAlteringProxy(chain.anvil.url);
    const endpoints = createChainEndpoints({ urls: [proxy.url], chainId: chain.anvil.chainId });
    const through = createRelayer({ endpoints, chainId: chain.anvil.chainId, privateKey: anvilKeys[1] });
    try {
      const estimates = [
        [100_000n, 125_000n],
        [2n ** 25n - 1n, 2n ** 25n],
      ] as const;
      for (const [estimate, limit] of estimates) {
        proxy.alter = (asked, ask) =>
          asked.method === 'eth_estimateGas' ? { result: `0x${estimate.toString(16)}` } : ask(asked);
        expect(await through.estimateGas(call)).toBe(limit);
      }
      proxy.alter = (asked, ask) =>
        asked.method === 'eth_estimateGas' ? { result: `0x${(2n ** 25n + 1n).toString(16)}` } : ask(asked);
      await expect(through.estimateGas(call)).rejects.toThrow(CallRevertedError);
    } finally {
      await closeChainEndpoints(endpoints);
      await proxy.stop();
    }
  });

  it('the tip is at least the floor, and the fee covers twice the base fee', async () => {
    const options = { endpoints: chain.endpoints, chainId: chain.anvil.chainId, privateKey: anvilKeys[1] };
    const polygon = await relayer.quoteFees();
    expect(polygon.maxPriorityFeePerGas).toBeGreaterThanOrEqual(25_000_000_000n);
    expect(polygon.maxFeePerGas).toBeGreaterThan(polygon.maxPriorityFeePerGas);
    const floor = await createRelayer({ ...options, minimumTipWei: 70_000_000_000n }).quoteFees();
    expect(floor.maxPriorityFeePerGas).toBe(70_000_000_000n);
    const capped = await createRelayer({ ...options, maximumFeePerGasWei: 9n }).quoteFees();
    expect(capped).toEqual({ maxFeePerGas: 9n, maxPriorityFeePerGas: 9n });
  });

  it('the gas balance is the balance in wei', async () => {
    const balance = await chain.anvil.rpc('eth_getBalance', [relayer.address, 'latest']);
    expect(await relayer.readGasBalance()).toBe(BigInt(String(balance)));
  });
});

describe('broadcasting', () => {
  it('reaches every endpoint, and one that takes it is enough', async () => {
    const call = await fund('one of two', 1_000_000n);
    const proxies = [await startAlteringProxy(chain.anvil.url), await startAlteringProxy(chain.anvil.url)];
    const urls = proxies.map(({ url }) => url);
    const endpoints = createChainEndpoints({ urls, chainId: chain.anvil.chainId });
    const through = createRelayer({ endpoints, chainId: chain.anvil.chainId, privateKey: anvilKeys[1] });
    const { rawTransaction } = await sign(call);
    const [first, second] = proxies;
    try {
      for (const proxy of proxies) proxy.failWithStatus = 503;
      await expect(through.broadcast(rawTransaction)).rejects.toThrow(ChainUnavailableError);
      if (second) second.failWithStatus = null;
      await through.broadcast(rawTransaction);
      if (first) first.failWithStatus = null;
      await through.broadcast(rawTransaction);
      expect(first?.asked).toEqual(['eth_sendRawTransaction']);
      expect(second?.asked).toEqual(['eth_sendRawTransaction', 'eth_sendRawTransaction']);
      await chain.anvil.mine();
      expect(await token.readBalance(addressFor('merchant of one of two'))).toBe(975_000n);
    } finally {
      await closeChainEndpoints(endpoints);
      for (const proxy of proxies) await proxy.stop();
    }
  });

  const answers = [
    ['already known', true],
    ['AlreadyKnown', true],
    ['transaction already imported', true],
    ['ALREADY_EXISTS: already known', true],
    ['known transaction: 0xab', true],
    ['nonce too low: next nonce 5, tx nonce 4', true],
    ['unknown transaction type', false],
    ['transaction underpriced', false],
    ['nonce too high', false],
    ['intrinsic gas too low', false],
  ] as const;

  it.each(answers)('takes "%s" for having arrived: %s', async (message, hasArrived) => {
    const proxy = await startAlteringProxy(chain.anvil.url);
    proxy.alter = () => ({ error: { code: -32_000, message } });
    const endpoints = createChainEndpoints({ urls: [proxy.url], chainId: chain.anvil.chainId });
    const through = createRelayer({ endpoints, chainId: chain.anvil.chainId, privateKey: anvilKeys[1] });
    const broadcasting = through.broadcast('0x02').then(
      () => true,
      (error: unknown) => error,
    );
    expect(await broadcasting).toEqual(hasArrived ? true : expect.any(TransactionRefusedError));
    await closeChainEndpoints(endpoints);
    await proxy.stop();
  });

  it('without POL for gas is refused in the words of the node', async () => {
    const poor = createRelayer({
      endpoints: chain.endpoints,
      chainId: chain.anvil.chainId,
      privateKey: `0x${'99'.repeat(32)}`,
    });
    const call = await fund('poor', 1_000_000n);
    const { rawTransaction } = await poor.sign(call, 0, 200_000n, await relayer.quoteFees());
    await expect(poor.broadcast(rawTransaction)).rejects.toThrow(TransactionRefusedError);
    await expect(poor.broadcast(rawTransaction)).rejects.toThrow(/insufficient funds/i);
  });
});

describe('a private key', () => {
  it('that is none is refused without being repeated', () => {
    for (const wrong of ['0x1234567890', `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`] as const) {
      const create = () =>
        createRelayer({ endpoints: chain.endpoints, chainId: chain.anvil.chainId, privateKey: wrong });
      expect(create).toThrow(TypeError);
      expect(create).not.toThrow(wrong.slice(2));
    }
  });
});
