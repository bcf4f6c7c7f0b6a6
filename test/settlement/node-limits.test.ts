import { parseTransaction } from 'viem/utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { USD_RATE_ONE } from '../../src/payment/money.ts';
import type { Payment } from '../../src/payment/payment.ts';
import type { RelayLimits } from '../../src/settlement/batch-and-gas-limits.ts';
import type { ChainEndpoint } from '../../src/settlement/chain/endpoint-rotation.ts';
import { useProxies } from '../chain/use-chain.ts';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';

const { chain, settlement, reopen } = useSettlement();
const hosts = useProxies(chain);
const GWEI = 10n ** 9n;
const POL = 10n ** 18n;

/** A node in front of the chain, as the relayer sees it. */
interface LimitedNode {
  /** The highest gas limit times fee that it takes, as --rpc.txfeecap sets it; null for any. */
  capWei: bigint | null;
  /** Two base fees and the tip are what the relayer offers: 145 gwei at 60. */
  baseFeeGwei: bigint;
  /** So many of the relayer's newest transactions are missing in its latest count, and in no other answer. */
  missingTransactions: number;
  /** What it refused, in its own words. */
  readonly refusals: string[];
  /** What it took. */
  readonly taken: `0x${string}`[];
}

let node: LimitedNode;
let endpoints: readonly ChainEndpoint[];
let balance: unknown;

beforeEach(async () => {
  node = { capWei: POL, baseFeeGwei: 60n, missingTransactions: 0, refusals: [], taken: [] };
  const proxy = await hosts.start(1);
  endpoints = hosts.connect();
  balance = await chain.anvil.rpc('eth_getBalance', [settlement.relayer.address, 'latest']);
  proxy.alter = async (call, ask) => {
    if (call.method === 'eth_feeHistory') {
      return { result: { baseFeePerGas: [hex(node.baseFeeGwei * GWEI)], reward: [[hex(25n * GWEI)]] } };
    }
    if (call.method === 'eth_getTransactionCount' && call.params[1] === 'latest') {
      const { result } = await ask(call);
      return { result: hex(BigInt(Math.max(0, Number(result) - node.missingTransactions))) };
    }
    if (call.method !== 'eth_sendRawTransaction') return ask(call);
    const raw = call.params[0] as `0x${string}`;
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(raw);
    if (node.capWei !== null && gas * maxFeePerGas > node.capWei) {
      const message = `tx fee (${polOf(gas * maxFeePerGas)} ether) exceeds the configured cap (${polOf(node.capWei)} ether)`;
      node.refusals.push(message);
      return { error: { code: -32_000, message } };
    }
    if (!node.taken.includes(raw)) node.taken.push(raw);
    return ask(call);
  };
  await openBehindNode();
});

afterEach(() => setBalance(balance));

async function openBehindNode(limits: Partial<RelayLimits> = {}): Promise<void> {
  await reopen({ relayerEndpoints: endpoints, limits });
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function polOf(wei: bigint): string {
  return (Number(wei) / 1e18).toFixed(2);
}

async function setBalance(wei: unknown): Promise<void> {
  await chain.anvil.rpc('anvil_setBalance', [settlement.relayer.address, wei]);
}

async function mineAtBaseFee(): Promise<void> {
  await chain.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [hex(node.baseFeeGwei * GWEI)]);
  await settlement.mine();
}

/** Blocks at the base fee that the node tells, until nothing is in flight or due. */
async function settleAtBaseFee(): Promise<void> {
  for (let round = 0; round < 40; round++) {
    const pass = await settlement.relay();
    if (pass === 'idle' && round > 0) return;
    await mineAtBaseFee();
    await settlement.mineAndWatch(settlement.finalityBlocks);
  }
  throw new Error('the relayer did not come to rest');
}

function incidentKinds(): string[] {
  return settlement.incidents.map(({ kind }) => kind);
}

describe('a hundred payments at a base fee of 60 gwei, more than a node’s cap of 1 POL allows in one transaction', () => {
  it('go out in batches that the cap allows, none of which is refused, and all are paid', async () => {
    const payments = await settlement.createReady(100);
    await settleAtBaseFee();
    expect(node.refusals).toEqual([]);
    expect(node.taken.length).toBe(2);
    await settlement.expectPaidOnce(...payments);
  });
});

describe('a rescue whose gas costs more than may be spent', () => {
  /** A contract that spends some 2.6 million gas on each transfer, and has a balance of one of it for everybody. */
  const COSTLY_TOKEN = `0x${'c0571e'.repeat(6)}c0de`;
  const COSTLY_CODE = '0x60003560e01c6370a0823114601c57620186a05b60019003806013575b600160005260206000f3';

  it.each([
    ['the gas balance', { maximumTransactionFeeWei: POL }, POL / 5n, 'insufficient funds for gas'],
    ['the operator’s maximum', { maximumTransactionFeeWei: POL / 5n }, POL, 'RELAY_MAX_FEE_POL allows'],
  ])('is refused where that is %s, and holds up no release', async (_, limits, balanceWei, reason) => {
    node.capWei = null;
    await openBehindNode(limits);
    await chain.anvil.rpc('anvil_setCode', [COSTLY_TOKEN, COSTLY_CODE]);
    const [payment] = (await settlement.createReady(1)) as [Payment];
    await setBalance(hex(balanceWei));
    await expect(settlement.rescue(payment, COSTLY_TOKEN as `0x${string}`)).rejects.toThrow(reason);
    await settleAtBaseFee();
    await settlement.expectPaidOnce(payment);
  });
});

describe('with RELAY_MAX_GAS_SHARE_PERCENT, while fees are high', () => {
  const gasShare = { basisPoints: 1_000, polRate: 500n * USD_RATE_ONE };

  it('a small payment waits, larger ones leave, and it is released once when fees fall', async () => {
    await openBehindNode({ gasShare });
    // More than 4 USD a release to new wallets at 60 gwei and 500 USD a POL: too much for 30 USD, and not for 95.
    const small = await settlement.create({ amountCents: 30_00 });
    const large = await settlement.create();
    await settlement.deposit(small, 30_000_000n);
    await settlement.deposit(large, EXPECTED_UNITS);
    await settlement.mineAndWatch();
    expect(await settlement.relay()).toBe('opened');
    expect(settlement.incidents).toEqual([{ kind: 'deferred_releases', paymentIds: [small.id] }]);
    expect((await settlement.openBatch()).paymentIds).toEqual([large.id]);
    await mineAtBaseFee();
    await settlement.mineAndWatch(settlement.finalityBlocks);
    await settlement.expectPaidOnce(large);
    settlement.advance(60_000);
    // Also alone, and each minute again.
    await settlement.relay();
    await settlement.relay();
    expect(incidentKinds()).toEqual(['deferred_releases', 'deferred_releases']);
    expect(await settlement.state(small)).toBe('unpaid/ready');

    node.baseFeeGwei = 10n;
    await mineAtBaseFee();
    settlement.advance(60_000);
    await settleAtBaseFee();
    expect(await settlement.read(small)).toMatchObject({ status: 'paid', receivedUnits: 30_000_000n });
    expect((await settlement.observations(small)).releases).toHaveLength(1);
    expect(incidentKinds()).toHaveLength(2);
  });
});

it('a batch whose fees must rise above the cap is replaced at its nonce by a smaller, dearer one', async () => {
  node.baseFeeGwei = 30n;
  const payments = await settlement.createReady(60);
  await settlement.relay();
  const first = await settlement.openBatch();
  expect(first.paymentIds).toHaveLength(60);
  node.baseFeeGwei = 200n;
  settlement.advance(15_000);
  expect(await settlement.relay()).toBe('replaced');
  const second = await settlement.openBatch();
  expect(second.nonce).toBe(first.nonce);
  expect(second.paymentIds.length).toBeLessThan(60);
  expect(second.attempts[0]?.maxFeePerGas).toBe(425n * GWEI);
  expect(second.gasLimit * 425n * GWEI).toBeLessThanOrEqual(POL);
  await settleAtBaseFee();
  await settlement.expectPaidOnce(...payments);
  expect(node.refusals).toEqual([]);
});

describe('a node whose latest transaction count lags', () => {
  it('from before our first batch costs a try, but puts no payment off for it', async () => {
    // Of the key's earlier life, in which its transactions were not ours to remember.
    await settleReady();
    await openBehindNode();
    const payments = await settlement.createReady(2);
    const real = await settlement.relayer.readLatestTransactionCount();
    node.missingTransactions = 1;
    // Its final count lags as well, for one answer.
    const proxy = hosts.proxy(0);
    const { alter } = proxy;
    let answers = 0;
    proxy.alter = async (call, ask) => {
      const isFinalCount = call.method === 'eth_getTransactionCount' && call.params[1] !== 'latest';
      if (isFinalCount && answers++ === 0) return { result: hex(BigInt(real - 1)) };
      return alter === null ? ask(call) : alter(call, ask);
    };
    expect(await settlement.relay()).toBe('opened');
    expect((await settlement.openBatch()).nonce).toBe(real - 1);
    expect(await settlement.relay()).toBe('resolved');
    expect(settlement.incidents).toMatchObject([
      { kind: 'displaced_batch', paymentIds: payments.map(({ id }) => id) },
    ]);
    for (const payment of payments) {
      expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'ready', noOpBatches: 0 });
    }
    node.missingTransactions = 0;
    settlement.advance(10_000);
    await settleAtBaseFee();
    await settlement.expectPaidOnce(...payments);
  });

  /** One release from beginning to end, so that there is a transaction to miss. */
  async function settleReady(): Promise<Payment[]> {
    const payments = await settlement.createReady(1);
    await settleAtBaseFee();
    await settlement.expectPaidOnce(...payments);
    return payments;
  }
});
