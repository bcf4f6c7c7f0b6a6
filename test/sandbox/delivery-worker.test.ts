import { join } from 'node:path';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { deploySandboxContracts } from '../../sandbox/chain/deploy-sandbox-contracts.ts';
import { type LocalChain, startLocalChain } from '../../sandbox/chain/local-chain.ts';
import { type DeliveryWorker, startDeliveryWorker } from '../../sandbox/delivery-worker.ts';
import { developmentKeys } from '../../sandbox/development-keys.ts';
import { type OrderState, type OrderStore, openOrderStore } from '../../sandbox/order-store.ts';
import type { Address } from '../../src/payment/address.ts';
import type { JsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import { createRecordingLog, makeFolder, someAddress, WAIT } from './fixture.ts';

// Nothing mines here but the test, and nothing is saved unless it says so: every loss is brought about on purpose.

const keys = developmentKeys();
const tokenAbi = parseAbi(['function blacklist(address account)']);
/** So long that only `deliverNow` makes a round. */
const NEVER_MS = 1_000_000;
const UNITS = 95_000_000n;

let folder: Awaited<ReturnType<typeof makeFolder>>;
let chain: LocalChain;
let store: OrderStore;
/** What the deployer sends to set a sandbox up. */
const SETUP_TRANSACTIONS = 4;

let usdc: Address;
let otherToken: Address;
let worker: DeliveryWorker;
let log: ReturnType<typeof createRecordingLog>;
const nowMs = 1_000;
/** Called before the node gets a raw transaction. */
let beforeSending: (() => Promise<void>) | null;

beforeEach(async () => {
  folder = await makeFolder();
  log = createRecordingLog();

  beforeSending = null;
  chain = await startLocalChain({ directory: join(folder.path, 'chain'), log });
  ({ usdc, otherToken } = await deploySandboxContracts(chain.rpc, keys));
  await mine(3);
  await chain.save();
  store = openOrderStore(join(folder.path, 'onramps.sqlite'));
  worker = startWorker();
});

afterEach(async () => {
  await worker.stop();
  store.close();
  await chain.stop();
  await folder.remove();
});

function startWorker(): DeliveryWorker {
  const rpc: JsonRpcClient = {
    ...chain.rpc,
    async call(method, params) {
      if (method === 'eth_sendRawTransaction' && beforeSending !== null) {
        const interfere = beforeSending;
        beforeSending = null;
        await interfere();
      }
      return await chain.rpc.call(method, params);
    },
  };
  const treasury = { ...keys.minter, usdc, otherToken };
  return startDeliveryWorker({ store, rpc, treasury, log, nowMs: () => nowMs }, NEVER_MS);
}

async function restartWorker(): Promise<void> {
  await worker.stop();
  worker = startWorker();
}

async function mine(count: number): Promise<void> {
  for (let block = 0; block < count; block++) await chain.rpc.call('evm_mine', []);
}

function acceptOrder(id: string, walletAddress: Address): void {
  store.createOrder({
    id,
    provider: 'wert',
    amountCents: 100_00,
    currency: 'USD',
    walletAddress,
    externalId: 'payment',
    email: null,
    returnUrl: 'http://localhost:3000/',
    quotedUnits: UNITS,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + 60_000,
  });
  const delivery = { units: UNITS, dueAtMs: nowMs, isWrongToken: false };
  expect(store.acceptOrder(id, delivery, nowMs)).toBe(true);
}

function stateOf(id: string): OrderState | undefined {
  return store.findOrder(id)?.state;
}

async function balanceOf(address: Address): Promise<bigint> {
  const data = `0x70a08231${address.slice(2).padStart(64, '0')}`;
  return BigInt((await chain.rpc.call('eth_call', [{ to: usdc, data }, 'latest'])) as string);
}

/** Kills the node so that everything since the last save is lost, and waits until it is back. */
async function killNode(): Promise<void> {
  const killed = chain.pid();
  process.kill(killed, 'SIGKILL');
  await vi.waitFor(async () => {
    expect(chain.pid()).not.toBe(killed);
    expect(
      Number(await chain.rpc.call('eth_getTransactionCount', [keys.deployer.address, 'finalized'])),
    ).toBe(SETUP_TRANSACTIONS);
  }, WAIT);
}

/** One round, this many blocks, and another round. */
async function deliverTo(blocks: number): Promise<void> {
  await worker.deliverNow();
  await mine(blocks);
  await worker.deliverNow();
}

it('calls an order delivered only when its transfer is final', async () => {
  acceptOrder('one', someAddress('1'));
  await deliverTo(2);
  expect(stateOf('one')).toBe('sent');
  await mine(1);
  await worker.deliverNow();
  expect(stateOf('one')).toBe('delivered');
  expect(await balanceOf(someAddress('1'))).toBe(UNITS);
});

const kills: readonly (readonly [string, () => Promise<void>])[] = [
  [
    'the on-ramps, before the stored transaction was sent',
    async () => {
      beforeSending = async () => {
        throw new Error('killed here');
      };
      await expect(worker.deliverNow()).rejects.toThrow('killed here');
      await restartWorker();
    },
  ],
  [
    'the on-ramps, before they saw the answer of the node',
    async () => {
      await worker.deliverNow();
      for (const id of ['one', 'two']) store.setState(id, 'accepted');
      await restartWorker();
    },
  ],
  [
    'the node, before the transaction was mined',
    async () => {
      await worker.deliverNow();
      await killNode();
    },
  ],
  [
    'the node, which lost blocks that were final',
    async () => {
      await deliverTo(4);
      expect([stateOf('one'), stateOf('two')]).toEqual(['delivered', 'delivered']);
      await killNode();
      expect(await balanceOf(someAddress('1'))).toBe(0n);
      await worker.deliverNow();
      expect(log.lines.filter((line) => line.includes('lost a delivery'))).toHaveLength(2);
    },
  ],
];

it.each(kills)('a kill of %s loses nothing and doubles nothing', async (_what, kill) => {
  acceptOrder('one', someAddress('1'));
  acceptOrder('two', someAddress('2'));
  await kill();
  const hashes = ['one', 'two'].map((id) => store.findOrder(id)?.transactionHash);
  await deliverTo(3);
  for (const [index, id] of ['one', 'two'].entries()) {
    expect(store.findOrder(id)).toMatchObject({ state: 'delivered', nonce: index });
    expect(store.findOrder(id)?.transactionHash).toBe(hashes[index]);
    expect(await balanceOf(someAddress(String(index + 1)))).toBe(UNITS);
  }
});

it('fails a delivery whose nonce another sender spent, and goes on with the next, also on a chain that lost both', async () => {
  acceptOrder('one', someAddress('1'));
  beforeSending = async () => {
    const { address } = keys.minter;
    for (const _ of ['the nonce of the order', 'one more'])
      await chain.rpc.call('eth_sendTransaction', [{ from: address, to: address, value: '0x0' }]);
    await mine(1);
  };
  await deliverTo(2);
  expect(stateOf('one')).toBe('failed');
  acceptOrder('two', someAddress('2'));
  await deliverTo(3);
  expect(store.findOrder('two')).toMatchObject({ state: 'delivered', nonce: 2 });
  await killNode();
  await deliverTo(3);
  expect([stateOf('one'), stateOf('two')]).toEqual(['delivered', 'delivered']);
  for (const digit of ['1', '2']) expect(await balanceOf(someAddress(digit))).toBe(UNITS);
});

it('fails a delivery that the token refuses, and goes on with the next', async () => {
  const data = encodeFunctionData({ abi: tokenAbi, args: [someAddress('1')] });
  await chain.rpc.call('eth_sendTransaction', [
    { from: keys.deployer.address, to: usdc, data, gas: '0x30d40' },
  ]);
  await mine(1);
  acceptOrder('one', someAddress('1'));
  acceptOrder('two', someAddress('2'));
  await deliverTo(3);
  expect([stateOf('one'), stateOf('two')]).toEqual(['failed', 'delivered']);
  expect(log.lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
});
