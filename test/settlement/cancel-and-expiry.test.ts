import { describe, expect, it } from 'vitest';
import { BLOCK_MS, EXPECTED_UNITS, EXPIRY_MS, HOUR_MS, useSettlement } from './harness.ts';

const { settlement } = useSettlement();

const conflict = { errorName: 'payment_state_conflict', status: 409 };

describe('a canceled payment', () => {
  it('keeps a late deposit until somebody asks for its release, and is never paid', async () => {
    const payment = await settlement.create();
    await settlement.cancel(payment);
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.settleDown();
    expect(await settlement.state(payment)).toBe('canceled/manual_required');
    expect(await settlement.balancesOf(payment)).toEqual({ merchant: 0n, fees: 0n, held: EXPECTED_UNITS });

    await settlement.release(payment);
    expect(await settlement.state(payment)).toBe('canceled/manual_required');
    await settlement.settleDown();
    const { releases } = await settlement.observations(payment);
    expect(await settlement.read(payment)).toMatchObject({
      status: 'canceled',
      forwardStatus: 'completed',
      receivedUnits: EXPECTED_UNITS,
      forwardedUnits: 92_625_000n,
      txidOut: releases[0]?.transactionHash,
      paidAtMs: null,
      releaseRequested: false,
    });
    expect(await settlement.balancesOf(payment)).toEqual({
      merchant: 92_625_000n,
      fees: 2_375_000n,
      held: 0n,
    });
    expect(await settlement.webhooks(payment)).toEqual([]);
  });
});

describe('canceling is refused', () => {
  it('while a started session can still pay, and half an hour longer for what was begun in it', async () => {
    const payment = await settlement.create();
    const first = await settlement.startSession(payment);
    settlement.advance(first.expiresAtMs - settlement.nowMs());
    const { expiresAtMs } = await settlement.startSession(payment);
    const cancelAt = async (timeMs: number) => {
      settlement.advance(timeMs - settlement.nowMs() - 4 * BLOCK_MS);
      await settlement.mineAndWatch(4);
      return settlement.cancel(payment);
    };
    await expect(cancelAt(expiresAtMs - 1)).rejects.toMatchObject({
      ...conflict,
      message: expect.stringContaining('A customer has an open provider session'),
    });
    const refusal = { ...conflict, message: expect.stringContaining('may still deliver') };
    settlement.advance(1);
    await expect(settlement.cancel(payment)).rejects.toMatchObject(refusal);
    await expect(cancelAt(expiresAtMs + 30 * 60_000 - 1)).rejects.toMatchObject(refusal);
    settlement.advance(1);
    expect(await settlement.cancel(payment)).toMatchObject({ status: 'canceled' });
  });

  it('while the chain was not looked at for more than ten minutes, and possible once it was', async () => {
    const payment = await settlement.create();
    const { cursor } = await settlement.watch();
    settlement.advance(cursor.timestampMs + 10 * 60_000 - settlement.nowMs());
    const canceledInTime = await settlement.cancel(await settlement.create());
    expect(canceledInTime).toMatchObject({ status: 'canceled' });
    settlement.advance(1);
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine(4);
    const refusal = { ...conflict, message: expect.stringContaining('there may be an unseen deposit') };
    await expect(settlement.cancel(payment)).rejects.toMatchObject(refusal);
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    await settlement.settleDown();
    expect(await settlement.state(payment)).toBe('paid/completed');
    const other = await settlement.create();
    expect(await settlement.cancel(other)).toMatchObject({ status: 'canceled' });
  });

  it('when 0.01 USDC has arrived', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, 9_999n);
    await settlement.deposit(payment, 1n);
    await settlement.mineAndWatch();
    await expect(settlement.cancel(payment)).rejects.toMatchObject(conflict);
    expect(await settlement.state(payment)).toBe('unpaid/pending');
  });
});

describe('dust from a stranger', () => {
  it('keeps no merchant from canceling, and makes a canceled payment wait for nobody until it is 0.01 USDC', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, 1n);
    await settlement.mineAndWatch(4);
    expect(await settlement.cancel(payment)).toMatchObject({ forwardStatus: 'canceled', receivedUnits: 1n });
    await settlement.deposit(payment, 9_998n);
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({
      forwardStatus: 'canceled',
      receivedUnits: 9_999n,
    });
    await expect(settlement.release(payment)).rejects.toMatchObject(conflict);
    await settlement.deposit(payment, 1n);
    await settlement.mineAndWatch();
    expect(await settlement.state(payment)).toBe('canceled/manual_required');
    await settlement.reorganize(1);
    await settlement.settleDown();
    expect(await settlement.state(payment)).toBe('canceled/canceled');
  });
});

describe('a release by request is refused', () => {
  it('while the payment is open and underpaid, because further deposits may add up', async () => {
    const payment = await settlement.createSettled(1_000_000n);
    await expect(settlement.release(payment)).rejects.toMatchObject(conflict);
  });
});

describe('a payment that expires', () => {
  it.each([
    ['by card', () => settlement.create(), 'unpaid/ready'],
    ['from a wallet', () => settlement.createDirect(), 'unpaid/pending'],
  ] as const)(
    '%s, whose deposit the chain takes back after the deadline, is looked at again by the next expiry step',
    async (_kind, create, seen) => {
      const payment = await create();
      settlement.advance(EXPIRY_MS + HOUR_MS);
      await settlement.mine(4);
      await settlement.deposit(payment, 2n * EXPECTED_UNITS);
      await settlement.mineAndWatch();
      // Passes the watermark over the payment, unless it is pending.
      await settlement.expire();
      expect(await settlement.state(payment)).toBe(seen);

      await settlement.reorganize(1);
      await settlement.watch();
      // The deposit may be in the next block: falling back alone expires nothing.
      expect(await settlement.state(payment)).toBe('unpaid/pending');
      await settlement.mineAndWatch(3);
      await settlement.expire();
      expect(await settlement.read(payment)).toMatchObject({ status: 'canceled', cancelReason: 'expired' });
      expect(await settlement.expire()).toMatchObject({ checked: 0 });
    },
  );

  it('at a deadline of its own, waits for a customer who is at a provider, and takes no other', async () => {
    const [waiting, empty] = [
      await settlement.create({ expiresInMs: HOUR_MS }),
      await settlement.create({ expiresInMs: HOUR_MS }),
    ];
    const later = await settlement.create();
    settlement.advance(HOUR_MS - 1_000);
    const { expiresAtMs } = await settlement.startSession(waiting);
    settlement.advance(10_000);
    await settlement.mineAndWatch(4);
    await settlement.expire();
    expect(await settlement.read(empty)).toMatchObject({ status: 'canceled', cancelReason: 'expired' });
    for (const open of [waiting, later]) expect(await settlement.state(open)).toBe('unpaid/pending');
    await expect(settlement.startSession(empty)).rejects.toMatchObject(conflict);
    expect(await settlement.expire()).toMatchObject({ checked: 0 });
    settlement.advance(expiresAtMs + HOUR_MS / 2 - settlement.nowMs() + 1_000);
    await settlement.mineAndWatch(4);
    await settlement.expire();
    expect(await settlement.state(waiting)).toBe('canceled/canceled');
    expect(await settlement.state(later)).toBe('unpaid/pending');
  });

  it('underpaid by money that the logs did not show at the deadline ends when it is found', async () => {
    const payment = await settlement.create();
    settlement.faults.hideLogs = true;
    await settlement.deposit(payment, 1_000_000n);
    settlement.advance(EXPIRY_MS + HOUR_MS);
    await settlement.mineAndWatch(4);
    settlement.faults.hideLogs = false;
    expect(await settlement.expire()).toEqual({ checked: 1, unexplained: [payment.id] });
    expect(await settlement.rescan(100)).toBe(1);
    await settlement.expire();
    expect(await settlement.state(payment)).toBe('canceled/manual_required');
  });

  it('does not expire while its address holds money that the logs did not show', async () => {
    const [paid, empty] = [await settlement.create(), await settlement.create()];
    settlement.faults.hideLogs = true;
    await settlement.deposit(paid, EXPECTED_UNITS);
    settlement.advance(EXPIRY_MS + HOUR_MS);
    await settlement.mineAndWatch(4);
    settlement.faults.hideLogs = false;
    expect(await settlement.expire()).toEqual({ checked: 2, unexplained: [paid.id] });
    expect(await settlement.state(paid)).toBe('unpaid/pending');
    expect(await settlement.state(empty)).toBe('canceled/canceled');

    expect(await settlement.rescan(100)).toBe(1);
    await settlement.settleDown();
    expect(await settlement.state(paid)).toBe('paid/completed');
  });
});

describe('while the watcher is behind', () => {
  it('nothing expires by a clock that is behind the chain either', async () => {
    const payment = await settlement.create();
    settlement.advance(EXPIRY_MS);
    await settlement.mine(4);
    settlement.advance(-EXPIRY_MS);
    await settlement.watch();
    expect((await settlement.expire()).checked).toBe(0);
    expect(await settlement.state(payment)).toBe('unpaid/pending');
  });

  it('a deposit in a block that was not scanned wins, even one made after the deadline', async () => {
    const [onTime, late] = [await settlement.create(), await settlement.create()];
    await settlement.deposit(onTime, EXPECTED_UNITS);
    await settlement.mine();
    settlement.advance(EXPIRY_MS + HOUR_MS);
    await settlement.deposit(late, EXPECTED_UNITS);
    await settlement.mine(4);
    expect((await settlement.expire()).checked).toBe(0);
    await settlement.watch();
    await settlement.expire();
    expect(await settlement.state(onTime)).toBe('unpaid/ready');
    expect(await settlement.state(late)).toBe('unpaid/ready');
    await settlement.settleDown();
    expect(await settlement.state(onTime)).toBe('paid/completed');
    expect(await settlement.state(late)).toBe('paid/completed');
  });
});
