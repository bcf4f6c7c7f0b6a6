import { beforeEach, describe, expect, it } from 'vitest';
import type { FeeQuote } from '../../src/settlement/chain/chain.ts';
import { RelayConflictError } from '../../src/store/store-errors.ts';
import { CrashError, EXPECTED_UNITS, useSettlement } from './harness.ts';

const { chain, settlement, reopen } = useSettlement();
/** Every transaction that was handed to the node, in this order. */
let sent: string[];

beforeEach(async () => {
  sent = [];
  settlement.faults.broadcast = record;
});

async function record(rawTransaction: string, send: () => Promise<void>): Promise<void> {
  sent.push(rawTransaction);
  await send();
}

/** What a chain asks for on which everything has become twice as dear. */
async function dearerFees(): Promise<FeeQuote> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await settlement.relayer.quoteFees();
  return { maxFeePerGas: maxFeePerGas * 2n, maxPriorityFeePerGas: maxPriorityFeePerGas * 2n };
}

describe('a transaction that is not mined', () => {
  it('because its raised form is too dear for the gas balance that is left is mined in its first form', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.relay();
    settlement.advance(15_000);
    settlement.faults.fees = await dearerFees();
    expect(await settlement.relay()).toBe('bumped');
    const { attempts, gasLimit } = await settlement.openBatch();
    await settlement.dropWaiting();
    const { address } = settlement.relayer;
    const balance = await chain.anvil.rpc('eth_getBalance', [address, 'latest']);
    const enoughForFirst = gasLimit * (attempts[0]?.maxFeePerGas as bigint);
    await chain.anvil.rpc('anvil_setBalance', [address, `0x${enoughForFirst.toString(16)}`]);
    settlement.advance(300_000);
    expect(await settlement.relay()).toBe('rebroadcast');
    await settlement.mine();
    await chain.anvil.rpc('anvil_setBalance', [address, balance]);
    await settlement.settleDown();
    expect((await settlement.expectPaidOnce(payment)).txidOut).toBe(attempts[0]?.hash);
  });

  it('because the relayer has no POL for gas is sent when it has', async () => {
    const payment = await settlement.createWithDeposit();
    const { address } = settlement.relayer;
    const balance = await chain.anvil.rpc('eth_getBalance', [address, 'latest']);
    settlement.faults.broadcast = () => Promise.reject(new CrashError());
    await expect(settlement.relay()).rejects.toThrow(CrashError);
    settlement.faults.broadcast = record;
    await chain.anvil.rpc('anvil_setBalance', [address, '0x0']);
    await expect(settlement.relay()).rejects.toThrow(/insufficient funds/i);
    // The chain asks for more, but there is nothing to offer: the fees stay.
    settlement.advance(600_000);
    settlement.faults.fees = await dearerFees();
    await expect(settlement.relay()).rejects.toThrow(/insufficient funds/i);
    expect((await settlement.openBatch()).attempts).toHaveLength(1);
    settlement.faults.fees = null;
    await chain.anvil.rpc('anvil_setBalance', [address, balance]);
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
  });
});

it('a relayer without POL for gas begins no batch, so that another one may', async () => {
  const payment = await settlement.createWithDeposit();
  const { address } = settlement.relayer;
  const balance = await chain.anvil.rpc('eth_getBalance', [address, 'latest']);
  await chain.anvil.rpc('anvil_setBalance', [address, '0x0']);
  await expect(settlement.relay()).rejects.toThrow(/insufficient funds/i);
  expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'ready', relayBatchId: null });
  const other = await settlement.openSender();
  expect(await other.relay()).toBe('opened');
  expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'processing' });
  await chain.anvil.rpc('anvil_setBalance', [address, balance]);
  await settlement.settleDown();
  await settlement.expectPaidOnce(payment);
});

describe('a nonce that cannot be used, because the chain lost what was before it', () => {
  it('is waited for, then reached by a transfer to the relayer itself at each nonce before it', async () => {
    const earlier = await settlement.createWithDeposit();
    await settlement.settleDown();
    const paid = await settlement.expectPaidOnce(earlier);
    const payment = await settlement.createWithDeposit();
    await settlement.relay();
    const { nonce } = await settlement.openBatch();
    await settlement.dropWaiting();
    // So deep that the earlier release is gone as well.
    await settlement.reorganize(9);
    await settlement.mineAndWatch(2);
    expect(settlement.rewinds).toHaveLength(1);
    expect(await settlement.relayer.readLatestTransactionCount()).toBeLessThan(nonce);
    expect(await settlement.relay()).toBe('waiting');
    settlement.advance(30_000);
    expect(await settlement.relay()).toBe('filled');
    expect(settlement.incidents).toEqual([{ kind: 'filled_gap', fromNonce: nonce - 1, toNonce: nonce - 1 }]);

    for (const owed of [earlier, payment]) {
      if ((await settlement.balancesOf(owed)).held === 0n) await settlement.deposit(owed, EXPECTED_UNITS);
    }
    settlement.advance(10_000);
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
    // The chain forgot that it had been paid; the merchant has the money on the chain as it is now.
    expect(await settlement.read(earlier)).toEqual(paid);
    await settlement.expectPaidOnce(earlier);
  });
});

describe('a node that lags for a moment', () => {
  it('and shows a gap before an old batch does not have it given up', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.relay();
    settlement.advance(3_600_000);
    settlement.faults.missingTransactions = 1;
    expect(await settlement.relay()).toBe('waiting');
    settlement.advance(29_999);
    expect(await settlement.relay()).toBe('waiting');
    settlement.faults.missingTransactions = 0;
    expect(await settlement.relay()).not.toBe('abandoned');
    // The next gap is waited for anew.
    settlement.advance(29_999);
    settlement.faults.missingTransactions = 1;
    expect(await settlement.relay()).toBe('waiting');
    settlement.faults.missingTransactions = 0;
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
  });
});

describe('what is due', () => {
  it('waits two seconds for others to share its transaction', async () => {
    await reopen({ limits: { batchWindowMs: 2_000 } });
    const first = await settlement.createWithDeposit();
    expect(await settlement.relay()).toBe('collecting');
    const second = await settlement.createWithDeposit();
    expect(await settlement.relay()).toBe('opened');
    expect((await settlement.openBatch()).paymentIds).toEqual([first.id, second.id]);
  });

  it('does not wait when the batch is full', async () => {
    await reopen({ limits: { batchWindowMs: 60_000, releasesPerBatch: 2 } });
    const payments = [await settlement.create(), await settlement.create(), await settlement.create()];
    for (const payment of payments) await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mineAndWatch();
    expect(await settlement.relay()).toBe('opened');
    expect((await settlement.openBatch()).paymentIds).toHaveLength(2);
  });

  it('and a rescue that come at the same moment take one nonce each, one after the other', async () => {
    const payment = await settlement.createWithDeposit();
    const other = await settlement.create();
    await chain.anvil.rpc('anvil_setBalance', [other.depositAddress, '0x7']);
    const pol = `0x${'0'.repeat(40)}` as const;
    const outcomes = await Promise.allSettled([settlement.relay(), settlement.rescue(other, pol)]);
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(RelayConflictError);
    expect(refusals.length).toBeLessThan(2);
    await settlement.settleDown();
    if (outcomes[1]?.status === 'rejected') await settlement.rescue(other, pol);
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
    expect(await chain.anvil.rpc('eth_getBalance', [other.payoutAddress, 'latest'])).toBe('0x7');
  });
});
