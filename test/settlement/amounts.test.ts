import { describe, expect, it } from 'vitest';
import { presentPaymentStatus } from '../../src/api/payment-routes.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { deployFactory } from '../../src/settlement/chain/deploy-contract.ts';
import { depositAddressesOf, ENOUGH_UNITS, EXPECTED_UNITS, useSettlement } from './harness.ts';

const { chain, settlement } = useSettlement();

/** The payment is paid with exactly these units, on the chain and in its fields, and has one webhook. */
async function expectPaid(payment: Payment, units: bigint): Promise<Payment> {
  const fee = (units * 250n) / 10_000n;
  expect(await settlement.balancesOf(payment)).toEqual({ merchant: units - fee, fees: fee, held: 0n });
  const paid = await settlement.read(payment);
  expect(paid).toMatchObject({
    status: 'paid',
    forwardStatus: 'completed',
    receivedUnits: units,
    forwardedUnits: units - fee,
    releaseDueAtMs: null,
    cancelReason: null,
  });
  expect(paid.paidAtMs).not.toBeNull();
  expect(await settlement.webhooks(payment)).toHaveLength(1);
  return paid;
}

describe('a payment', () => {
  it('paid exactly goes pending, ready, processing, and is paid only when its release is final', async () => {
    const payment = await settlement.create();
    expect(payment.paidThresholdUnits).toBe(ENOUGH_UNITS);
    const txidIn = await settlement.deposit(payment, EXPECTED_UNITS);
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    await settlement.mineAndWatch();
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    expect(await settlement.relay()).toBe('opened');
    expect(await settlement.state(payment)).toBe('unpaid/processing');

    await settlement.mineAndWatch();
    expect((await settlement.balancesOf(payment)).held).toBe(0n);
    await settlement.mineAndWatch();
    expect(await settlement.state(payment)).toBe('unpaid/processing');
    expect(await settlement.webhooks(payment)).toEqual([]);

    await settlement.mineAndWatch();
    const paid = await expectPaid(payment, EXPECTED_UNITS);
    const { releases, finalBlock } = await settlement.observations(payment);
    expect(paid).toMatchObject({
      txidIn,
      txidOut: releases[0]?.transactionHash,
      paidAtMs: settlement.nowMs(),
    });
    expect(releases[0]?.blockNumber).toBe(finalBlock);
    expect(await settlement.relay()).toBe('resolved');
    expect(await settlement.relay()).toBe('idle');
    expect(await settlement.read(payment)).toEqual({ ...paid, relayBatchId: null });
  });

  it('shows what was seen of it while unpaid, in its status too, until the chain takes it back', async () => {
    const payment = await settlement.create();
    expect(presentPaymentStatus(payment)).toMatchObject({ value_coin: '0.000000', txid_in: null });
    const deposit = await settlement.deposit(payment, 5_000_000n);
    await settlement.mineAndWatch();
    expect(presentPaymentStatus(await settlement.read(payment))).toMatchObject({
      status: 'unpaid',
      forward_status: 'pending',
      value_coin: '5.000000',
      txid_in: deposit,
      forwarded_amount: '0.000000',
      txid_out: null,
      paid_at: null,
    });
    await settlement.reorganize(1);
    await settlement.dropWaiting();
    await settlement.mineAndWatch(2);
    expect(presentPaymentStatus(await settlement.read(payment))).toMatchObject({
      status: 'unpaid',
      value_coin: '0.000000',
      txid_in: null,
    });
  });

  it('underpaid stays pending, shows what arrived and releases nothing; the top-up that pays it in full is its txid_in', async () => {
    const payment = await settlement.create();
    const part = await settlement.deposit(payment, 50_000_000n);
    await settlement.settleDown();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    expect(await settlement.balancesOf(payment)).toEqual({ merchant: 0n, fees: 0n, held: 50_000_000n });
    expect(await settlement.read(payment)).toMatchObject({
      receivedUnits: 50_000_000n,
      forwardedUnits: 0n,
      txidIn: part,
      amountMismatch: 'partially_paid',
      releaseDueAtMs: null,
    });

    const txidIn = await settlement.deposit(payment, 43_100_000n);
    await settlement.mine();
    await settlement.deposit(payment, 7n);
    await settlement.settleDown();
    const paid = await expectPaid(payment, 93_100_007n);
    expect(paid.txidIn).toBe(txidIn);
  });

  it('accepted as paid with a part is released, and paid when that is final, with one webhook', async () => {
    const payment = await settlement.create();
    const txidIn = await settlement.deposit(payment, 50_000_000n);
    await settlement.mineAndWatch();
    await expect(settlement.accept(payment, 50_000_000n)).rejects.toThrow('not final');
    await settlement.settleDown();
    for (const units of [49_999_999n, 50_000_001n, 0n]) {
      await expect(settlement.accept(payment, units)).rejects.toThrow('Another deposit');
    }
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    await settlement.accept(payment, 50_000_000n);
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    expect(await settlement.webhooks(payment)).toEqual([]);
    await settlement.settleDown();
    expect((await expectPaid(payment, 50_000_000n)).txidIn).toBe(txidIn);
    await expect(settlement.accept(payment, 50_000_000n)).rejects.toThrow('Only an open payment');
  });

  it('accepted as paid with a part is not overpaid by the rest of its price', async () => {
    const payment = await settlement.createSettled(40_000_000n);
    await settlement.accept(payment, 40_000_000n);
    await settlement.settleDown();
    await settlement.deposit(payment, 55_000_000n);
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', amountMismatch: null });
    await settlement.deposit(payment, 10_000_000n);
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ amountMismatch: 'overpaid' });
  });

  it('is not accepted with nothing, nor in full, nor canceled', async () => {
    const empty = await settlement.create();
    await expect(settlement.accept(empty, 0n)).rejects.toThrow('Only an open payment');
    const full = await settlement.createWithDeposit();
    await expect(settlement.accept(full, EXPECTED_UNITS)).rejects.toThrow('Only an open payment');
  });

  it('gets its surplus released after it was paid, and its fields stay as they were', async () => {
    const payment = await settlement.createSettled();
    const paid = await expectPaid(payment, EXPECTED_UNITS);

    await settlement.deposit(payment, 12_345_678n);
    await settlement.settleDown();
    const fee = 2_375_000n + (12_345_678n * 250n) / 10_000n;
    expect(await settlement.balancesOf(payment)).toEqual({
      merchant: EXPECTED_UNITS + 12_345_678n - fee,
      fees: fee,
      held: 0n,
    });
    expect(await settlement.read(payment)).toEqual({ ...paid, amountMismatch: 'overpaid' });
    expect(await settlement.webhooks(payment)).toHaveLength(1);
    const { deposits, releases } = await settlement.observations(payment);
    expect(deposits).toHaveLength(2);
    expect(releases).toHaveLength(2);
  });
});

describe('payments of an earlier factory', () => {
  it('in the same store are released by the factory they were made with', async () => {
    await chain.anvil.rpc('evm_setAutomine', [true]);
    const newer = await deployFactory(chain.deployer, chain.token);
    await chain.anvil.rpc('evm_setAutomine', [false]);
    settlement.factories.push(newer.factory);
    await settlement.crash();

    const earlier = await settlement.create();
    const later = await settlement.create(
      {},
      { factory: newer.factory, depositAddressOf: depositAddressesOf(chain, newer) },
    );
    expect(later.factory).not.toBe(earlier.factory);
    await settlement.deposit(later, EXPECTED_UNITS);
    await settlement.deposit(earlier, EXPECTED_UNITS);
    await settlement.settleDown();
    for (const payment of [earlier, later]) {
      expect(await settlement.read(payment)).toMatchObject({ status: 'paid', forwardedUnits: 92_625_000n });
      expect((await settlement.balancesOf(payment)).merchant).toBe(92_625_000n);
    }
    expect((await settlement.read(later)).txidOut).not.toBe((await settlement.read(earlier)).txidOut);
  });
});

it('the webhook of a payment is written with paid, or neither is: what keeps the row out keeps the payment unpaid', async () => {
  const payment = await settlement.createWithDeposit();
  await settlement.relay();
  await settlement.mine(3);
  await settlement.inDatabase('ALTER TABLE webhooks RENAME COLUMN fields TO other');
  const before = await settlement.read(payment);
  await expect(settlement.watch()).rejects.toThrow();
  expect(await settlement.read(payment)).toEqual(before);
  await settlement.inDatabase('ALTER TABLE webhooks RENAME COLUMN other TO fields');
  await settlement.crash();
  expect(await settlement.read(payment)).toEqual(before);

  await settlement.watch();
  expect((await settlement.read(payment)).status).toBe('paid');
  expect(await settlement.webhooks(payment)).toHaveLength(1);
});
