import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/app/metrics.ts';
import { createUnsettledTask } from '../../src/app/worker-tasks.ts';
import type { Address } from '../../src/payment/address.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { encodeRelayCall } from '../../src/settlement/chain/read-logs.ts';
import { deployTestUsdc } from '../chain/local-chain.ts';
import { EXPECTED_UNITS, forwardOf, rival, useSettlement } from './harness.ts';

const { chain, settlement } = useSettlement();

async function expectPaid(payment: Payment, change: Partial<Payment> = {}): Promise<void> {
  expect(await settlement.read(payment)).toMatchObject({
    status: 'paid',
    forwardStatus: 'completed',
    receivedUnits: EXPECTED_UNITS,
    forwardedUnits: 92_625_000n,
    ...change,
  });
  expect(await settlement.webhooks(payment)).toHaveLength(1);
}

describe('a rival', () => {
  it('who releases before we try is the txid_out, and we send nothing', async () => {
    const payment = await settlement.createWithDeposit();
    const txidOut = await settlement.releaseAsRival(payment);
    await settlement.mine();
    expect(await settlement.relay()).toBe('refused');
    expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'ready', releaseRefusals: 0 });
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/processing');
    await settlement.settleDown();
    await expectPaid(payment, { txidOut });
    expect(await settlement.relayer.readLatestTransactionCount()).toBe(
      await countOf(settlement.relayer.address),
    );
  });

  it('who overtakes our release on its way is the txid_out, and nobody is paid twice', async () => {
    const payment = await settlement.createWithDeposit();
    const txidOut = await settlement.releaseAsRival(payment);
    settlement.faults.broadcast = async (_raw, send) => {
      await settlement.mine();
      await send();
    };
    expect(await settlement.relay()).toBe('opened');
    settlement.faults.broadcast = null;
    await settlement.settleDown();
    await expectPaid(payment, { txidOut });
    expect(await settlement.balancesOf(payment)).toEqual({
      merchant: 92_625_000n,
      fees: 2_375_000n,
      held: 0n,
    });
    expect((await settlement.observations(payment)).releases).toHaveLength(1);
  });

  it('who starves a release of gas, at any limit, changes nothing but to pay in full', async () => {
    const payment = await settlement.createWithDeposit();
    const before = await settlement.read(payment);
    const data = encodeRelayCall(forwardOf(payment));
    const call = { from: rival, to: payment.factory, data };
    const needed = Number(await chain.anvil.rpc('eth_estimateGas', [call]));
    let isReleased = false;
    for (let gas = 30_000; gas <= needed + 4_000; gas += 6_000) {
      await settlement.releaseAsRival(payment, gas).catch(() => null); // Below what a transaction costs at all.
      await settlement.mine();
      const balances = await settlement.balancesOf(payment);
      isReleased ||= balances.held === 0n;
      if (isReleased) expect(balances).toEqual({ merchant: 92_625_000n, fees: 2_375_000n, held: 0n });
      else {
        await settlement.watch();
        expect(await settlement.read(payment)).toEqual(before);
      }
    }
    expect(isReleased).toBe(true);
    await settlement.settleDown();
    await expectPaid(payment);
  });

  it('who releases an underpaid payment takes nothing from it: later deposits still make it paid', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, 50_000_000n);
    await settlement.mine();
    await settlement.releaseAsRival(payment);
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({
      status: 'unpaid',
      forwardStatus: 'pending',
      txidOut: null,
    });
    expect((await settlement.balancesOf(payment)).merchant).toBe(48_750_000n);

    const txidIn = await settlement.deposit(payment, 45_000_000n);
    await settlement.settleDown();
    await expectPaid(payment, { txidIn });
  });

  it('who makes a release fail on purpose leaves a ForwardFailed that changes no state', async () => {
    const payment = await settlement.createWithDeposit();
    await chain.callToken({ name: 'blacklist', account: payment.payoutAddress });
    await settlement.mine();
    const before = await settlement.read(payment);
    const hash = await settlement.releaseAsRival(payment);
    await settlement.mine();
    const receipt = (await chain.anvil.rpc('eth_getTransactionReceipt', [hash])) as { logs: unknown[] };
    expect(receipt.logs).toHaveLength(1);
    await chain.callToken({ name: 'unBlacklist', account: payment.payoutAddress });
    await settlement.mineAndWatch(3);
    expect(await settlement.read(payment)).toEqual(before);
    await settlement.settleDown();
    await expectPaid(payment);
  });
});

async function countOf(address: Address): Promise<number> {
  return Number(await chain.anvil.rpc('eth_getTransactionCount', [address, 'pending']));
}

/** Waits out each pause after a refusal and tries again. */
async function refuse(payment: Payment, times: number): Promise<void> {
  for (let refusal = 0; refusal < times; refusal++) {
    const { releaseDueAtMs } = await settlement.read(payment);
    settlement.advance(Math.max(0, (releaseDueAtMs as number) - settlement.nowMs()));
    expect(await settlement.relay()).toBe('refused');
  }
}

describe('a release that the token refuses', () => {
  it('for a blocklisted merchant fails, asks for a hand, and completes by itself once it is possible', async () => {
    const payment = await settlement.create();
    await chain.callToken({ name: 'blacklist', account: payment.payoutAddress });
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mineAndWatch();
    await refuse(payment, 1);
    expect(await settlement.read(payment)).toMatchObject({
      status: 'unpaid',
      forwardStatus: 'failed',
      releaseRefusals: 1,
      releaseRefusalReason: expect.stringContaining('blacklisted'),
    });
    await refuse(payment, 1);
    expect(await settlement.state(payment)).toBe('unpaid/failed');
    await refuse(payment, 1);
    expect(await settlement.state(payment)).toBe('unpaid/manual_required');
    await refuse(payment, 2);
    expect(await settlement.state(payment)).toBe('unpaid/manual_required');
    expect((await settlement.balancesOf(payment)).held).toBe(EXPECTED_UNITS);

    await chain.callToken({ name: 'unBlacklist', account: payment.payoutAddress });
    await settlement.mine();
    expect(await settlement.relay()).toBe('idle');
    settlement.advance(3_600_000);
    await settlement.settleDown();
    await expectPaid(payment, { releaseRefusals: 0, releaseRefusalReason: null });
  });

  it('shows in the metrics, which say how late a release is and who waits for a person', async () => {
    const metrics = createMetrics();
    const task = createUnsettledTask({ store: settlement.store, metrics, nowMs: settlement.nowMs });
    const shown = async () => {
      await task.run(new AbortController().signal);
      const { values } = await metrics.unsettledPayments.get();
      const counts = Object.fromEntries(values.map(({ labels, value }) => [labels['forward_status'], value]));
      const [late] = (await metrics.releaseOverdueSeconds.get()).values;
      return { ...counts, late: late?.value };
    };
    expect(await shown()).toEqual({ ready: 0, processing: 0, manual_required: 0, late: 0 });
    const payment = await settlement.createWithDeposit();
    settlement.advance(3_600_000);
    expect(await shown()).toMatchObject({ ready: 1, processing: 0 });
    expect((await shown()).late).toBeGreaterThanOrEqual(3_500);
    expect(await settlement.relay()).toBe('opened');
    settlement.advance(600_000);
    expect(await shown()).toMatchObject({ ready: 0, processing: 1, late: 600 });
    await settlement.settleDown();
    await expectPaid(payment);
    expect(await shown()).toEqual({ ready: 0, processing: 0, manual_required: 0, late: 0 });

    const refused = await settlement.createWithDeposit();
    await chain.callToken({ name: 'blacklist', account: refused.payoutAddress });
    await settlement.mine();
    await refuse(refused, 3);
    expect(await shown()).toEqual({ ready: 0, processing: 0, manual_required: 1, late: 0 });
  });

  it('of a surplus changes nothing of a paid payment', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.settleDown();
    const paid = await settlement.read(payment);
    await chain.callToken({ name: 'blacklist', account: payment.payoutAddress });
    await settlement.deposit(payment, 1_000_000n);
    await settlement.mineAndWatch();
    await refuse(payment, 4);
    expect(await settlement.read(payment)).toEqual({
      ...paid,
      releaseRefusals: 4,
      releaseRefusalReason: expect.any(String),
      releaseDueAtMs: expect.any(Number),
    });
    await chain.callToken({ name: 'unBlacklist', account: payment.payoutAddress });
    await settlement.mine();
    await settlement.release(payment);
    await settlement.settleDown();
    expect(await settlement.read(payment)).toEqual(paid);
    expect((await settlement.balancesOf(payment)).held).toBe(0n);
  });
});

describe('a blocklisted fee wallet', () => {
  it('leaves the fee to the merchant, and the payment is paid', async () => {
    const payment = await settlement.createWithDeposit();
    await chain.callToken({ name: 'blacklist', account: settlement.feeWallet });
    await settlement.mine();
    await settlement.settleDown();
    await expectPaid(payment, { forwardedUnits: EXPECTED_UNITS });
    expect(await settlement.balancesOf(payment)).toEqual({ merchant: EXPECTED_UNITS, fees: 0n, held: 0n });
    expect((await settlement.webhooks(payment))[0]?.fields).toMatchObject({
      receivedAmount: '95.000000',
      forwardedAmount: '95.000000',
    });
  });
});

describe('a blocklisted payout wallet', () => {
  it('refuses the session before the provider is asked, also when one was started earlier', async () => {
    const payment = await settlement.create();
    const session = await settlement.startSession(payment);
    expect(await settlement.startSession(payment)).toEqual(session);
    await chain.callToken({ name: 'blacklist', account: payment.payoutAddress });
    await settlement.mine();
    // The token's answer is kept for half a minute.
    expect(await settlement.startSession(payment)).toEqual(session);
    settlement.advance(30_000);
    await expect(settlement.startSession(payment)).rejects.toMatchObject({
      errorName: 'payment_state_conflict',
    });
    const other = await settlement.create({ payoutAddress: payment.payoutAddress });
    await expect(settlement.startSession(other)).rejects.toMatchObject({
      errorName: 'payment_state_conflict',
    });
    expect(settlement.session.started).toEqual([payment.id]);
  });
});

describe('what is not a payment', () => {
  it('such as another token goes to the merchant, all of it', async () => {
    const payment = await settlement.create();
    const other = await deployOtherToken();
    await chain.callToken({ name: 'mint', to: payment.depositAddress, units: 7_000_001n, token: other });
    await settlement.mineAndWatch();
    expect((await settlement.observations(payment)).deposits).toEqual([]);

    await settlement.rescue(payment, other);
    await expect(settlement.rescue(payment, other)).rejects.toMatchObject({
      errorName: 'payment_state_conflict',
    });
    await settlement.settleDown();
    expect(await balanceOfToken(other, payment.payoutAddress)).toBe(7_000_001n);
    expect(await settlement.store.observations.listEntriesOf(payment.id)).toMatchObject([
      { kind: 'rescued', token: other, units: 7_000_001n },
    ]);
    expect(await settlement.read(payment)).toEqual(payment);
    expect(await settlement.relay()).toBe('idle');
  });

  it.each([
    ['POL', async () => zeroAddress],
    ['another token', () => deployOtherToken()],
  ])('such as %s costs no gas where the deposit address holds nothing of it', async (_, tokenOf) => {
    const payment = await settlement.create();
    const token = await tokenOf();
    await expect(settlement.rescue(payment, token)).rejects.toMatchObject({
      errorName: 'payment_state_conflict',
      message: 'This cannot be rescued: the deposit address holds nothing of this token.',
    });
    expect(await settlement.store.relay.listOpenBatches(10)).toEqual([]);
  });

  it('does not include the payment token itself, which leaves by its release alone', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.settleDown();
    await expect(settlement.rescue(payment, chain.token)).rejects.toMatchObject({
      errorName: 'payment_state_conflict',
      message: expect.stringContaining('cannot be rescued'),
    });
    expect(await settlement.relay()).toBe('idle');
  });
});

async function deployOtherToken(): Promise<Address> {
  await chain.anvil.rpc('evm_setAutomine', [true]);
  const token = await deployTestUsdc(chain.deployer);
  await chain.anvil.rpc('evm_setAutomine', [false]);
  return token;
}

async function balanceOfToken(token: Address, account: Address): Promise<bigint> {
  const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, '0')}`;
  return BigInt(String(await chain.anvil.rpc('eth_call', [{ to: token, data }, 'latest'])));
}
