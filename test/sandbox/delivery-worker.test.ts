import { join } from 'node:path';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deploySandboxContracts } from '../../simulators/chain/deploy-sandbox-contracts.ts';
import { type LocalChain, startLocalChain } from '../../simulators/chain/local-chain.ts';
import { type DeliveryWorker, startDeliveryWorker } from '../../simulators/delivery-worker.ts';
import { developmentKeys } from '../../simulators/development-keys.ts';
import { type OrderState, type OrderStore, openOrderStore } from '../../simulators/order-store.ts';
import type { JsonRpcClient } from '../../src/chain/json-rpc.ts';
import type { Address } from '../../src/domain/payout-address.ts';
import { createRecordingLog, makeFolder, someAddress, WAIT } from './fixture.ts';

// Nothing mines here but the test, and nothing is saved unless it says so: every loss is brought about on purpose.

const keys = developmentKeys();
const tokenAbi = parseAbi(['function blacklist(address account)', 'function unBlacklist(address account)']);
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
let nowMs: number;
/** Called before the node gets a raw transaction. */
let beforeSending: (() => Promise<void>) | null;

beforeEach(async () => {
  folder = await makeFolder();
  log = createRecordingLog();
  nowMs = 1_000;
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
    state: 'open',
    deliveryUnits: null,
    isWrongToken: false,
    dueAtMs: null,
    transactionHash: null,
    refusals: 0,
  });
  expect(store.acceptOrder(id, { units: UNITS, dueAtMs: nowMs }, nowMs)).toBe(true);
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

async function callToken(functionName: 'blacklist' | 'unBlacklist', account: Address): Promise<void> {
  const data = encodeFunctionData({ abi: tokenAbi, functionName, args: [account] });
  await chain.rpc.call('eth_sendTransaction', [
    { from: keys.deployer.address, to: usdc, data, gas: '0x30d40' },
  ]);
  await mine(1);
}

describe('a delivery', () => {
  it('is sent, and called delivered only when it is final', async () => {
    acceptOrder('one', someAddress('1'));
    await worker.deliverNow();
    expect(stateOf('one')).toBe('sent');
    await mine(2);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('sent');
    await mine(1);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');
    expect(await balanceOf(someAddress('1'))).toBe(UNITS);
  });

  it('that waited to be mined when the node was killed is sent again, the same bytes', async () => {
    acceptOrder('one', someAddress('1'));
    await worker.deliverNow();
    const hash = store.findOrder('one')?.transactionHash;
    await killNode();
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');
    expect(store.findOrder('one')?.transactionHash).toBe(hash);
    expect(await balanceOf(someAddress('1'))).toBe(UNITS);
  });

  it('that was final when the node lost its last blocks is sent again, the same bytes, loudly', async () => {
    acceptOrder('one', someAddress('1'));
    acceptOrder('two', someAddress('2'));
    await worker.deliverNow();
    await mine(4);
    await worker.deliverNow();
    expect([stateOf('one'), stateOf('two')]).toEqual(['delivered', 'delivered']);
    const hash = store.findOrder('two')?.transactionHash;
    await killNode();
    expect(await balanceOf(someAddress('1'))).toBe(0n);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('sent');
    expect(log.lines.filter((line) => line.includes('lost a delivery'))).toHaveLength(2);
    await mine(3);
    await worker.deliverNow();
    expect([stateOf('one'), stateOf('two')]).toEqual(['delivered', 'delivered']);
    expect(store.findOrder('two')?.transactionHash).toBe(hash);
    expect([await balanceOf(someAddress('1')), await balanceOf(someAddress('2'))]).toEqual([UNITS, UNITS]);
  });

  it('that was stored but not sent when the on-ramp was killed is sent at the next start', async () => {
    acceptOrder('one', someAddress('1'));
    beforeSending = async () => {
      throw new Error('killed here');
    };
    await expect(worker.deliverNow()).rejects.toThrow('killed here');
    expect(stateOf('one')).toBe('signed');
    const hash = store.findOrder('one')?.transactionHash;
    await worker.stop();
    worker = startWorker();
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');
    expect(store.findOrder('one')?.transactionHash).toBe(hash);
    expect(await balanceOf(someAddress('1'))).toBe(UNITS);
  });

  it('whose nonce somebody else spent takes another, and only when that is final', async () => {
    acceptOrder('one', someAddress('1'));
    beforeSending = async () => {
      const { address } = keys.minter;
      await chain.rpc.call('eth_sendTransaction', [{ from: address, to: address, value: '0x0' }]);
      await mine(1);
    };
    await worker.deliverNow();
    await mine(1);
    await worker.deliverNow();
    expect(store.findTransfer(0)?.state).toBe('pending');
    await mine(1);
    await worker.deliverNow(); // gives up the nonce
    expect(store.findTransfer(0)?.state).toBe('void');
    await worker.deliverNow(); // takes another
    await mine(3);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');
    expect(store.findTransfer(1)).toMatchObject({ orderId: 'one', state: 'final' });
    expect(await balanceOf(someAddress('1'))).toBe(UNITS);
  });

  it('that the token refused is tried again later, with another nonce', async () => {
    await callToken('blacklist', someAddress('1'));
    acceptOrder('one', someAddress('1'));
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    expect(store.findOrder('one')).toMatchObject({ state: 'accepted', refusals: 1 });
    await callToken('unBlacklist', someAddress('1'));
    await worker.deliverNow();
    expect(stateOf('one')).toBe('accepted');
    nowMs += 30_000;
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');
    expect(await balanceOf(someAddress('1'))).toBe(UNITS);
  });

  it('that the token always refuses is given up after twenty times', async () => {
    await callToken('blacklist', someAddress('1'));
    acceptOrder('one', someAddress('1'));
    for (let refusals = 1; refusals <= 20; refusals++) {
      await worker.deliverNow();
      await mine(3);
      await worker.deliverNow();
      expect(store.findOrder('one')?.refusals).toBe(refusals);
      nowMs += 30_000;
    }
    expect(stateOf('one')).toBe('failed');
    await worker.deliverNow();
    expect(store.nextNonce()).toBe(20);
    expect(log.lines.filter((line) => line.startsWith('error'))).toHaveLength(1);
  });

  it('is made once even when the chain forgets both the refusal and the delivery that followed it', async () => {
    await callToken('blacklist', someAddress('1'));
    acceptOrder('one', someAddress('1'));
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    await callToken('unBlacklist', someAddress('1'));
    nowMs += 30_000;
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');

    // The chain falls back to before all of that: now the refused transfer would succeed, were it sent again.
    await killNode();
    expect(await balanceOf(someAddress('1'))).toBe(0n);
    await worker.deliverNow();
    await mine(3);
    await worker.deliverNow();
    expect(stateOf('one')).toBe('delivered');
    expect(await balanceOf(someAddress('1'))).toBe(UNITS);
  });
});
