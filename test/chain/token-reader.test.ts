import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBalanceSweep } from '../../src/chain/sweep-balances.ts';
import { createTokenReader } from '../../src/chain/token-reader.ts';
import { ChainUnavailableError, type TokenReader } from '../../src/domain/ports/chain.ts';
import { addressFor, type LocalChain, startLocalChain } from './local-chain.ts';

const MULTICALL3 = '0xcA11bde05977b3631167028862bE2a173976CA11';

let chain: LocalChain;
let token: TokenReader;

beforeAll(async () => {
  chain = await startLocalChain();
  token = createTokenReader({ endpoints: chain.endpoints, token: chain.token });
});

afterAll(() => chain.stop());

it('a release that the token would carry out is possible, and moves nothing when simulated', async () => {
  const deposit = addressFor('simulated deposit');
  await chain.callToken({ name: 'mint', to: deposit, units: 10n });
  expect(await token.simulateRelease(deposit, addressFor('merchant'), 10n)).toBeNull();
  expect(await token.readBalance(deposit)).toBe(10n);
});

it('a blocklisted merchant is seen, and is the reason why a release is refused, until it is taken off', async () => {
  const [deposit, merchant] = [addressFor('blocked deposit'), addressFor('blocked merchant')];
  await chain.callToken({ name: 'mint', to: deposit, units: 10n });
  expect(await token.isBlocklisted(merchant)).toBe(false);
  await chain.callToken({ name: 'blacklist', account: merchant });
  expect(await token.isBlocklisted(merchant)).toBe(true);
  const reason = await token.simulateRelease(deposit, merchant, 10n);
  expect(reason).toBe('Blacklistable: account is blacklisted');
  await chain.callToken({ name: 'unBlacklist', account: merchant });
  expect(await token.isBlocklisted(merchant)).toBe(false);
  expect(await token.simulateRelease(deposit, merchant, 10n)).toBeNull();
});

it('a paused token and a deposit with too little are reasons too', async () => {
  const deposit = addressFor('paused deposit');
  await chain.callToken({ name: 'mint', to: deposit, units: 10n });
  expect(await token.simulateRelease(deposit, addressFor('merchant'), 11n)).toMatch(/exceeds balance/);
  await chain.callToken({ name: 'pause' });
  expect(await token.simulateRelease(deposit, addressFor('merchant'), 10n)).toBe('Pausable: paused');
  await chain.callToken({ name: 'unpause' });
});

it('where there is no token, nothing is answered instead of "not blocklisted" or "no balance"', async () => {
  const nowhere = createTokenReader({ endpoints: chain.endpoints, token: addressFor('no token') });
  await expect(nowhere.isBlocklisted(addressFor('merchant'))).rejects.toThrow(ChainUnavailableError);
  await expect(nowhere.readBalance(addressFor('merchant'))).rejects.toThrow(ChainUnavailableError);
  await expect(nowhere.simulateRelease(addressFor('a'), addressFor('b'), 1n)).rejects.toThrow(
    ChainUnavailableError,
  );
});

it('a sweep reads the balances of many addresses at one block, with Multicall3 and without', async () => {
  const addresses = Array.from({ length: 1_100 }, (_, index) => addressFor(`sweep ${index}`));
  const [first, last] = [addressFor('sweep 0'), addressFor('sweep 1099')];
  await chain.callToken({ name: 'mint', to: first, units: 11n });
  await chain.callToken({ name: 'mint', to: last, units: 12n });
  const block = await chain.anvil.blockNumber();
  const expected: bigint[] = addresses.map((address) =>
    address === first ? 11n : address === last ? 12n : 0n,
  );
  const options = { endpoints: chain.endpoints, token: chain.token };
  expect(await createBalanceSweep(options)(addresses, block)).toEqual(expected);

  await chain.anvil.rpc('anvil_setCode', [MULTICALL3, await multicall3Code()]);
  await chain.callToken({ name: 'mint', to: first, units: 100n });
  const sweep = createBalanceSweep(options);
  const newest = await chain.anvil.blockNumber();
  expect(await sweep(addresses, newest)).toEqual(expected.with(0, 111n));
  expect(await sweep(addresses.slice(0, 2), newest)).toEqual([111n, 0n]);
});

/** viem has the code that deploys Multicall3, but does not export it. */
async function multicall3Code(): Promise<unknown> {
  const path: string = new URL('../../node_modules/viem/_esm/constants/contracts.js', import.meta.url).href;
  const { multicall3Bytecode } = (await import(path)) as { multicall3Bytecode: string };
  return chain.anvil.rpc('eth_call', [{ data: multicall3Bytecode }, 'latest']);
}
