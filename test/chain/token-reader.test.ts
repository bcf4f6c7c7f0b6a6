import { beforeAll, expect, it } from 'vitest';
import { placeMulticall3 } from '../../sandbox/chain/multicall3.ts';
import {
  ChainUnavailableError,
  type ReleaseAddresses as Release,
  type TokenReader,
} from '../../src/settlement/chain/chain.ts';
import {
  createBalanceSweep,
  createTokenReader,
  MULTICALL3,
} from '../../src/settlement/chain/token-reader.ts';
import { addressFor } from './local-chain.ts';
import { useLocalChain, useProxies } from './use-chain.ts';

const chain = useLocalChain();
const hosts = useProxies(chain);
let token: TokenReader;

beforeAll(() => {
  token = createTokenReader({ endpoints: chain.endpoints, token: chain.token });
});

/** As on a chain that never had it. */
async function removeMulticall3(): Promise<void> {
  await chain.anvil.rpc('anvil_setCode', [MULTICALL3, '0x']);
}

it('checked releases would succeed, fail with the token’s reason, or have nothing to move, and move nothing', async () => {
  const release = (name: string) => ({
    depositAddress: addressFor(`deposit ${name}`),
    payoutAddress: addressFor(`merchant ${name}`),
  });
  const releases = ['good', 'blocked', 'empty', 'other'].map(release);
  const [good, blocked, , other] = releases as [Release, Release, Release, Release];
  for (const { depositAddress } of [good, blocked, other]) {
    await chain.callToken({ name: 'mint', to: depositAddress, units: 10n });
  }
  await chain.callToken({ name: 'blacklist', account: blocked.payoutAddress });
  const refusal = 'Blacklistable: account is blacklisted';
  expect(await token.checkReleases(releases)).toEqual([
    { heldUnits: 10n, refusal: null },
    { heldUnits: 10n, refusal },
    { heldUnits: 0n, refusal: null },
    { heldUnits: 10n, refusal: null },
  ]);
  expect(await token.readBalance(good.depositAddress)).toBe(10n);
  await chain.callToken({ name: 'unBlacklist', account: blocked.payoutAddress });
  await chain.callToken({ name: 'blacklist', account: good.depositAddress });
  expect(await token.checkReleases([good, blocked])).toEqual([
    { heldUnits: 10n, refusal },
    { heldUnits: 10n, refusal: null },
  ]);
  await chain.callToken({ name: 'pause' });
  expect(await token.checkReleases([blocked])).toEqual([{ heldUnits: 10n, refusal: 'Pausable: paused' }]);
  await chain.callToken({ name: 'unpause' });
});

it('a batch of 100 releases is checked in one call, and with Multicall3 elsewhere, at its address', async () => {
  const elsewhere = addressFor('multicall elsewhere');
  await removeMulticall3();
  await placeMulticall3(chain.anvil.rpc, elsewhere);
  const methods: string[] = [];
  const counted = chain.endpoints.map((endpoint) => ({
    ...endpoint,
    rpc: {
      ...endpoint.rpc,
      call: ((method, params) => {
        methods.push(method);
        return endpoint.rpc.call(method, params);
      }) as typeof endpoint.rpc.call,
    },
  }));
  const reader = createTokenReader({ endpoints: counted, token: chain.token, multicall: elsewhere });
  const releases = Array.from({ length: 100 }, (_, index) => ({
    depositAddress: addressFor(`counted deposit ${index}`),
    payoutAddress: addressFor(`counted merchant ${index}`),
  }));
  const [first] = releases as [Release];
  await chain.callToken({ name: 'mint', to: first.depositAddress, units: 10n });
  const checks = await reader.checkReleases(releases);
  expect(checks[0]).toEqual({ heldUnits: 10n, refusal: null });
  expect(checks.slice(1).every(({ heldUnits }) => heldUnits === 0n)).toBe(true);
  expect(methods).toEqual(['eth_call']);
  const lost = createTokenReader({ endpoints: chain.endpoints, token: chain.token });
  await expect(lost.checkReleases(releases)).rejects.toThrow(`MULTICALL3_ADDRESS names ${MULTICALL3}`);
  await placeMulticall3(chain.anvil.rpc);
});

it('a blocklisted merchant is seen until it is taken off', async () => {
  const merchant = addressFor('blocked merchant');
  expect(await token.isBlocklisted(merchant)).toBe(false);
  await chain.callToken({ name: 'blacklist', account: merchant });
  expect(await token.isBlocklisted(merchant)).toBe(true);
  await chain.callToken({ name: 'unBlacklist', account: merchant });
  expect(await token.isBlocklisted(merchant)).toBe(false);
});

it.each([0, 1, 2])('one of three hosts, at place %i, blocklists no merchant alone', async (place) => {
  await hosts.start(3);
  const reader = createTokenReader({ endpoints: hosts.connect(), token: chain.token });
  hosts.proxy(place).alter = (call, ask) =>
    call.method === 'eth_call' ? { result: `0x${'1'.padStart(64, '0')}` } : ask(call);
  // As many reads as give each host its turn.
  for (let read = 0; read < 160; read++)
    expect(await reader.isBlocklisted(addressFor('merchant'))).toBe(false);
});

it('where there is no token, nothing is answered instead of "not blocklisted" or "no balance"', async () => {
  const nowhere = createTokenReader({ endpoints: chain.endpoints, token: addressFor('no token') });
  await expect(nowhere.isBlocklisted(addressFor('merchant'))).rejects.toThrow(ChainUnavailableError);
  await expect(nowhere.readBalance(addressFor('merchant'))).rejects.toThrow(ChainUnavailableError);
  const release = { depositAddress: addressFor('a'), payoutAddress: addressFor('b') };
  await expect(nowhere.checkReleases([release])).rejects.toThrow(ChainUnavailableError);
});

it('a sweep reads the balances of many addresses at one block', async () => {
  const addresses = Array.from({ length: 1_100 }, (_, index) => addressFor(`sweep ${index}`));
  const [first, last] = [addressFor('sweep 0'), addressFor('sweep 1099')];
  await chain.callToken({ name: 'mint', to: first, units: 11n });
  await chain.callToken({ name: 'mint', to: last, units: 12n });
  const block = await chain.anvil.blockNumber();
  const expected: bigint[] = addresses.map((address) =>
    address === first ? 11n : address === last ? 12n : 0n,
  );
  const sweep = createBalanceSweep({ endpoints: chain.endpoints, token: chain.token });
  expect(await sweep(addresses, block)).toEqual(expected);

  await chain.callToken({ name: 'mint', to: first, units: 100n });
  const newest = await chain.anvil.blockNumber();
  expect(await sweep(addresses, newest)).toEqual(expected.with(0, 111n));
  expect(await sweep(addresses.slice(0, 2), newest)).toEqual([111n, 0n]);
});
