import { beforeAll, describe, expect, it } from 'vitest';
import {
  ChainUnavailableError,
  type FeeQuote,
  type RelayCall,
  type Relayer,
  type TokenReader,
  TransactionRefusedError,
} from '../../src/settlement/chain/chain.ts';
import { createRelayer } from '../../src/settlement/chain/relayer.ts';
import { openSigner } from '../../src/settlement/chain/signer.ts';
import { createTokenReader } from '../../src/settlement/chain/token-reader.ts';
import { anvilKeys } from '../support/anvil.ts';
import { addressFor, termsFor } from './local-chain.ts';
import { useLocalChain, useProxies } from './use-chain.ts';

const chain = useLocalChain({ mining: 'manual' });
const hosts = useProxies(chain);
let relayer: Relayer;
let token: TokenReader;

/** A relayer of the chain with other options. */
const relayerWith = (change: Partial<Parameters<typeof createRelayer>[0]> = {}) =>
  createRelayer({
    endpoints: chain.endpoints,
    chainId: chain.anvil.chainId,
    signer: openSigner(anvilKeys[1]),
    ...change,
  });

beforeAll(() => {
  relayer = relayerWith();
  token = createTokenReader({ endpoints: chain.endpoints, token: chain.token });
});

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

describe('a release', () => {
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
});

it('a rescue of several payments at once does not exist', async () => {
  const terms = [termsFor('one'), termsFor('two')];
  const call = { kind: 'rescue', factory: chain.factory, terms, token: addressFor('token') } as const;
  await expect(relayer.estimateGas(call)).rejects.toThrow(/one payment at a time/);
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

describe('gas and fees', () => {
  it('the tip is at least the floor, and the fee covers twice the base fee', async () => {
    const polygon = await relayer.quoteFees();
    expect(polygon.maxPriorityFeePerGas).toBeGreaterThanOrEqual(25_000_000_000n);
    expect(polygon.maxFeePerGas).toBeGreaterThan(polygon.maxPriorityFeePerGas);
  });
});

describe('broadcasting', () => {
  it('reaches every endpoint, and one that takes it is enough', async () => {
    const call = await fund('one of two', 1_000_000n);
    const first = await hosts.start(2);
    const second = hosts.proxy(1);
    const through = relayerWith({ endpoints: hosts.connect() });
    const { rawTransaction } = await sign(call);
    for (const proxy of [first, second]) proxy.failWithStatus = 503;
    await expect(through.broadcast(rawTransaction)).rejects.toThrow(ChainUnavailableError);
    second.failWithStatus = null;
    await through.broadcast(rawTransaction);
    first.failWithStatus = null;
    await through.broadcast(rawTransaction);
    expect(first.asked).toEqual(['eth_sendRawTransaction']);
    expect(second.asked).toEqual(['eth_sendRawTransaction', 'eth_sendRawTransaction']);
    await chain.anvil.mine();
    expect(await token.readBalance(addressFor('merchant of one of two'))).toBe(975_000n);
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
    (await hosts.start(1)).alter = () => ({ error: { code: -32_000, message } });
    const broadcasting = relayerWith({ endpoints: hosts.connect() })
      .broadcast('0x02')
      .then(
        () => true,
        (error: unknown) => error,
      );
    expect(await broadcasting).toEqual(hasArrived ? true : expect.any(TransactionRefusedError));
  });

  it('without POL for gas is refused in the words of the node', async () => {
    const poor = relayerWith({ signer: openSigner(`0x${'99'.repeat(32)}`) });
    const call = await fund('poor', 1_000_000n);
    const { rawTransaction } = await poor.sign(call, 0, 200_000n, await relayer.quoteFees());
    await expect(poor.broadcast(rawTransaction)).rejects.toThrow(TransactionRefusedError);
    await expect(poor.broadcast(rawTransaction)).rejects.toThrow(/insufficient funds/i);
  });
});
