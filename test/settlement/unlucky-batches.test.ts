import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { CallRevertedError } from '../../src/settlement/chain/chain.ts';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';

const { chain, settlement } = useSettlement();

async function expectPaid(payments: readonly Payment[]): Promise<void> {
  for (const payment of payments) {
    expect(await settlement.read(payment)).toMatchObject({
      status: 'paid',
      receivedUnits: EXPECTED_UNITS,
      releaseRefusals: 0,
    });
  }
}

describe('a batch that fails as a whole', () => {
  it('because of one payment goes without it, and that one alone is put off', async () => {
    const payments = await settlement.createReady(6);
    const [bad] = payments as [Payment];
    settlement.faults.estimate = (call) => {
      if (call.terms.some(({ merchant }) => merchant === bad.payoutAddress)) {
        throw new CallRevertedError('the call would fail: odd');
      }
    };
    expect(await settlement.relay()).toBe('refused');
    expect(await settlement.read(bad)).toMatchObject({
      forwardStatus: 'failed',
      releaseRefusals: 1,
      releaseRefusalReason: 'the call would fail: odd',
    });
    await settlement.settleDown();
    await expectPaid(payments.slice(1));
    settlement.faults.estimate = null;
    settlement.advance(30_000);
    await settlement.settleDown();
    await expectPaid(payments);
  });
});

describe('a batch that is mined and releases nothing', () => {
  /** A release that succeeds when simulated and fails when mined; leaves the wallet as it was. */
  async function relayInVain(payment: Payment): Promise<void> {
    settlement.faults.broadcast = async (_rawTransaction, send) => {
      await chain.callToken({ name: 'blacklist', account: payment.payoutAddress });
      await settlement.mine();
      await send();
      await settlement.mine();
      settlement.faults.broadcast = null;
    };
    expect(await settlement.relay()).toBe('opened');
    await chain.callToken({ name: 'unBlacklist', account: payment.payoutAddress });
    await settlement.mineAndWatch(3);
    expect(await settlement.relay()).toBe('resolved');
  }

  it('is repeated after growing pauses, without a word about the payment’s state, and paid in the end', async () => {
    const [payment] = (await settlement.createReady(1)) as [Payment];
    const pausesMs: number[] = [];
    for (let batch = 1; batch <= 5; batch++) {
      await relayInVain(payment);
      const now = await settlement.read(payment);
      expect(now).toMatchObject({ forwardStatus: 'ready', releaseRefusals: 0, noOpBatches: batch });
      const pauseMs = (now.releaseDueAtMs as number) - settlement.nowMs();
      pausesMs.push(pauseMs);
      settlement.advance(pauseMs - 1);
      expect(await settlement.relay()).toBe('idle');
      settlement.advance(1);
    }
    expect(pausesMs).toEqual([30_000, 120_000, 600_000, 3_600_000, 3_600_000]);
    expect(settlement.incidents).toHaveLength(5);
    expect(settlement.incidents[0]).toMatchObject({ kind: 'no_op_batch', paymentIds: [payment.id] });
    await settlement.settleDown();
    await expectPaid([payment]);
    expect(await settlement.read(payment)).toMatchObject({ noOpBatches: 0 });
  });

  it('puts off only the payments it did not release', async () => {
    const [bad, good] = (await settlement.createReady(2)) as [Payment, Payment];
    await relayInVain(bad);
    await expectPaid([good]);
    expect(await settlement.read(good)).toMatchObject({ noOpBatches: 0, releaseDueAtMs: null });
    expect(settlement.incidents).toMatchObject([{ kind: 'no_op_batch', paymentIds: [bad.id] }]);
  });

  it('is repeated at once when somebody asks', async () => {
    const [payment] = (await settlement.createReady(1)) as [Payment];
    await relayInVain(payment);
    await relayAfterRequest(payment);
    await expectPaid([payment]);
  });

  async function relayAfterRequest(payment: Payment): Promise<void> {
    await settlement.release(payment);
    expect(await settlement.read(payment)).toMatchObject({ noOpBatches: 0 });
    expect(await settlement.relay()).toBe('opened');
    await settlement.settleDown();
  }
});
