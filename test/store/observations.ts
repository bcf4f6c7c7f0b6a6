import { expect, it } from 'vitest';
import type { Address } from '../../src/payment/address.ts';
import type { Payment } from '../../src/payment/payment.ts';
import {
  type BlockReference,
  type ScanRecord,
  ScanRefusedError,
} from '../../src/settlement/settlement-store.ts';
import {
  ADDRESS,
  givePayment,
  givePayments,
  leave,
  pay,
  recordingDecide,
  type StoreContext,
} from './fixtures.ts';

export function block(number: number, branch = ''): BlockReference {
  return { number, hash: `hash of ${number}${branch}`, timestampMs: number * 2_000 };
}

export function depositOf({ id }: Payment, blockNumber: number, logIndex = 0, units = 1_000_000n) {
  return {
    paymentId: id,
    blockNumber,
    logIndex,
    transactionHash: `transaction ${blockNumber}`,
    units,
  };
}

export function releaseOf({ id }: Payment, blockNumber: number, logIndex = 0) {
  const amounts = { toMerchantUnits: 975_000n, feeUnits: 25_000n };
  return {
    paymentId: id,
    blockNumber,
    logIndex,
    transactionHash: `release ${blockNumber}`,
    ...amounts,
  };
}

export function scan(
  from: number,
  final: number,
  scannedTo: number,
  rows: Partial<ScanRecord> = {},
): ScanRecord {
  return { from: block(from), final: block(final), scannedTo, deposits: [], releases: [], ...rows };
}

export function observationPromises(context: StoreContext): void {
  const { store } = context;
  const { payments, observations, webhooks } = store;
  const observationsOf = async ({ id }: Payment) => (await payments.viewPayment(id))?.observations;

  it('has no cursor before the first scan, and sets it once', async () => {
    expect(await observations.readCursor()).toBeNull();
    await expect(observations.recordScan(scan(10, 11, 12), leave)).rejects.toThrow(ScanRefusedError);
    await observations.startCursor(block(10));
    await observations.startCursor(block(99));
    expect(await observations.readCursor()).toEqual(block(10));
    expect(await observations.listCheckpoints(10)).toEqual([block(10)]);
  });

  it('records what a scan found, moves the cursor and decides whom it concerns, in one step', async () => {
    const [one, other, unconcerned] = (await givePayments(store, 3)) as [Payment, Payment, Payment];
    await observations.startCursor(block(10));
    const decide = recordingDecide(({ payment, observations }) => {
      expect(observations.finalBlock).toBe(15);
      return payment.id === one.id ? { change: { forwardStatus: 'ready' } } : null;
    });
    const deposits = [depositOf(one, 12, 3), depositOf(one, 11, 9, 2n ** 256n - 1n)];
    const releases = [releaseOf(other, 20)];
    await observations.recordScan(scan(10, 15, 20, { deposits, releases }), decide);
    expect(decide.ids).toEqual([one.id, other.id].sort());
    await context.reopen();
    expect(await observations.readCursor()).toEqual(block(15));
    const [inOrder] = [deposits.toReversed().map(({ paymentId: _, ...deposit }) => deposit)];
    expect(await observationsOf(one)).toEqual({ deposits: inOrder, releases: [], finalBlock: 15 });
    const { paymentId: _, ...release } = releases[0] as (typeof releases)[number];
    expect(await observationsOf(other)).toEqual({ deposits: [], releases: [release], finalBlock: 15 });
    expect(await observationsOf(unconcerned)).toEqual({ deposits: [], releases: [], finalBlock: 15 });
    expect(await payments.findPaymentById(one.id)).toMatchObject({ forwardStatus: 'ready' });
  });

  it('keeps provisional rows above a scan that was cut short', async () => {
    const payment = await givePayment(store);
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 10, 20, { deposits: [depositOf(payment, 15)] }), leave);
    expect(await observations.recordScan(scan(10, 12, 14), leave)).toEqual({ hasRowsAbove: true });
    expect((await observationsOf(payment))?.deposits).toHaveLength(1);
    expect(await observations.recordScan(scan(12, 12, 15), leave)).toEqual({ hasRowsAbove: false });
    expect((await observationsOf(payment))?.deposits).toEqual([]);
  });

  it('credits a log once however often it is found', async () => {
    const payment = await givePayment(store);
    const deposit = depositOf(payment, 12);
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 15, 20, { deposits: Array(10_000).fill(deposit) }), leave);
    expect(
      await observations.recordMissed(
        { from: block(15), deposits: Array(100).fill(deposit), releases: [] },
        leave,
      ),
    ).toEqual({
      added: 0,
    });
    expect((await observationsOf(payment))?.deposits).toHaveLength(1);
  });

  it('names the rows that are missing: those not recorded with the same contents, and rescues not in the book', async () => {
    const payment = await givePayment(store);
    const [known, other] = [depositOf(payment, 12), depositOf(payment, 13)];
    const [release, otherRelease] = [releaseOf(payment, 12), releaseOf(payment, 14)];
    const rescue = { ...depositOf(payment, 12, 9), token: ADDRESS as Address, units: 5n };
    const otherRescue = { ...rescue, logIndex: 10 };
    await observations.startCursor(block(10));
    const rows = { deposits: [known], releases: [release], rescues: [rescue] };
    await observations.recordScan(scan(10, 15, 15, rows), leave);
    expect(await observations.listMissing(rows)).toEqual({ deposits: [], releases: [], rescues: [] });
    expect(await observations.listMissing({ deposits: [], releases: [] })).toEqual({
      deposits: [],
      releases: [],
      rescues: [],
    });
    const changed = { ...known, units: known.units + 1n };
    expect(
      await observations.listMissing({
        deposits: [known, other, changed],
        releases: [otherRelease, release],
        rescues: [otherRescue, rescue],
      }),
    ).toEqual({ deposits: [other, changed], releases: [otherRelease], rescues: [otherRescue] });
  });

  it('names the recorded rows that vanish with a scan: in its final blocks, of transactions that it has nowhere', async () => {
    const payment = await givePayment(store);
    const [gone, moved, kept] = [depositOf(payment, 12), depositOf(payment, 13), depositOf(payment, 14)];
    const rows = {
      deposits: [gone, moved, kept, depositOf(payment, 18)],
      releases: [releaseOf(payment, 15)],
    };
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 10, 20, rows), leave);
    const elsewhere = { ...moved, blockNumber: 14, logIndex: 7 };
    const vanished = await observations.listVanished(scan(10, 16, 20, { deposits: [elsewhere, kept] }));
    expect(vanished).toMatchObject({
      deposits: [{ blockNumber: 12, paymentId: payment.id }],
      releases: [{ blockNumber: 15 }],
    });
    expect(vanished.deposits).toHaveLength(1);
    expect(await observations.listVanished(scan(10, 10, 20, {}))).toEqual({ deposits: [], releases: [] });
  });

  it('refuses rows that contradict what is known', async () => {
    const payment = await givePayment(store);
    const deposit = depositOf(payment, 12);
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 15, 15, { deposits: [deposit] }), leave);
    const contradicting = [
      scan(15, 16, 16, { deposits: [{ ...deposit, blockNumber: 16, logIndex: 4 }] }),
      scan(15, 16, 16, { deposits: [depositOf(payment, 16), { ...depositOf(payment, 16), units: 2n }] }),
    ];
    for (const record of contradicting) {
      await expect(observations.recordScan(record, leave)).rejects.toThrow(ScanRefusedError);
    }
    const missed = { from: block(15), deposits: [{ ...deposit, units: 9n }], releases: [] };
    await expect(observations.recordMissed(missed, leave)).rejects.toThrow(ScanRefusedError);
    expect((await observationsOf(payment))?.deposits).toEqual([{ ...deposit, paymentId: undefined }]);
    expect(await observations.readCursor()).toEqual(block(15));
  });

  it('refuses a scan from elsewhere than the cursor, and rows outside its blocks', async () => {
    const payment = await givePayment(store);
    await observations.startCursor(block(10));
    await expect(observations.recordScan(scan(9, 12, 12), leave)).rejects.toThrow(ScanRefusedError);
    const forked = { ...scan(10, 12, 12), from: block(10, ' forked') };
    await expect(observations.recordScan(forked, leave)).rejects.toThrow(ScanRefusedError);
    const changedFinal = { ...scan(10, 10, 12), final: block(10, ' forked') };
    await expect(observations.recordScan(changedFinal, leave)).rejects.toThrow(ScanRefusedError);
    for (const blockNumber of [10, 13]) {
      const outside = scan(10, 12, 12, { deposits: [depositOf(payment, blockNumber)] });
      await expect(observations.recordScan(outside, leave)).rejects.toThrow(RangeError);
    }
    await expect(observations.recordScan(scan(10, 12, 11), leave)).rejects.toThrow(RangeError);
    await expect(observations.recordScan(scan(10, 9, 11), leave)).rejects.toThrow(RangeError);
    expect(await observations.readCursor()).toEqual(block(10));
  });

  it('lets one of several scans from the same cursor through', async () => {
    await observations.startCursor(block(10));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => observations.recordScan(scan(10, 12, 12), leave)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('leaves no trace of a scan, a correction or a rewind whose decision throws', async () => {
    const [one, other] = (await givePayments(store, 2)) as [Payment, Payment];
    const deposits = [depositOf(one, 12), depositOf(other, 13)];
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 12, 14, { deposits }), leave);
    const before = [
      await observationsOf(one),
      await observationsOf(other),
      await observations.listCheckpoints(10),
    ];
    const throwing = recordingDecide((view) => {
      if (view.payment.id === other.id) throw new Error('no');
      return pay(view);
    });
    const again = { deposits: [depositOf(one, 14)], releases: [releaseOf(other, 14)] };
    await expect(observations.recordScan(scan(12, 13, 14, again), throwing)).rejects.toThrow('no');
    const missed = { from: block(12), deposits: [depositOf(one, 11)], releases: [releaseOf(other, 11)] };
    await expect(observations.recordMissed(missed, throwing)).rejects.toThrow('no');
    await expect(observations.rewindTo(block(11), throwing)).rejects.toThrow('no');
    await expect(
      observations.advanceExpiryWatermark([one.id, other.id], { from: '', to: 'x' }, throwing),
    ).rejects.toThrow('no');
    expect(throwing.ids).toHaveLength(8);
    expect([
      await observationsOf(one),
      await observationsOf(other),
      await observations.listCheckpoints(10),
    ]).toEqual(before);
    expect(await payments.findPaymentById(one.id)).toEqual(one);
    expect(await webhooks.listWebhooks(one.id)).toEqual([]);
    expect(await observations.readExpiryWatermark()).toBe('');
  });

  it('adds what a scan of final blocks missed, and decides only whom it adds something for', async () => {
    const [one, other] = (await givePayments(store, 2)) as [Payment, Payment];
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 15, 20, { deposits: [depositOf(one, 12)] }), leave);
    const decide = recordingDecide();
    const missed = {
      from: block(15),
      deposits: [depositOf(one, 12), depositOf(other, 14)],
      releases: [releaseOf(other, 15)],
    };
    expect(await observations.recordMissed(missed, decide)).toEqual({ added: 2 });
    expect(decide.ids).toEqual([other.id]);
    expect(await observationsOf(other)).toMatchObject({
      deposits: [{ blockNumber: 14 }],
      releases: [{ blockNumber: 15 }],
    });
    expect(await observations.readCursor()).toEqual(block(15));
    const notFinal = { from: block(15), deposits: [depositOf(other, 16)], releases: [] };
    await expect(observations.recordMissed(notFinal, leave)).rejects.toThrow(RangeError);
  });

  it('takes no missed rows of a chain that it is not on any more', async () => {
    const payment = await givePayment(store);
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 15, 15), leave);
    const missed = { from: block(15), deposits: [depositOf(payment, 12)], releases: [] };
    await observations.rewindTo(block(10), leave);
    await observations.recordScan({ ...scan(10, 16, 16), final: block(16, ' other') }, leave);
    await expect(observations.recordMissed(missed, leave)).rejects.toThrow(ScanRefusedError);
    expect((await observationsOf(payment))?.deposits).toEqual([]);
  });

  it('forgets everything above the block it rewinds to', async () => {
    const [one, other] = (await givePayments(store, 2)) as [Payment, Payment];
    await observations.startCursor(block(10));
    await observations.recordScan(scan(10, 12, 12, { deposits: [depositOf(one, 12)] }), leave);
    await observations.recordScan(
      scan(12, 14, 16, { deposits: [depositOf(other, 13), depositOf(other, 16)] }),
      leave,
    );
    const decide = recordingDecide();
    await observations.rewindTo(block(12, ' forked'), decide);
    expect(decide.ids).toEqual([other.id]);
    expect((await observationsOf(one))?.deposits).toHaveLength(1);
    expect(await observationsOf(other)).toEqual({ deposits: [], releases: [], finalBlock: 12 });
    expect(await observations.listCheckpoints(10)).toEqual([block(12, ' forked'), block(10)]);
  });

  it('remembers the last 200 checkpoints, newest first', async () => {
    await observations.startCursor(block(0));
    for (let number = 0; number < 250; number++)
      await observations.recordScan(scan(number, number + 1, number + 1), leave);
    const checkpoints = await observations.listCheckpoints(1_000);
    expect(checkpoints.map(({ number }) => number)).toEqual(
      Array.from({ length: 200 }, (_, index) => 250 - index),
    );
    expect(await observations.listCheckpoints(3)).toEqual([block(250), block(249), block(248)]);
  });

  it('moves the expiry watermark together with what was decided', async () => {
    const [one, other] = (await givePayments(store, 2)) as [Payment, Payment];
    expect(await observations.readExpiryWatermark()).toBe('');
    const decide = recordingDecide(() => ({ change: { status: 'canceled', forwardStatus: 'canceled' } }));
    await observations.advanceExpiryWatermark([one.id], { from: '', to: one.id }, decide);
    await context.reopen();
    expect(await observations.readExpiryWatermark()).toBe(one.id);
    expect(await payments.findPaymentById(one.id)).toMatchObject({ status: 'canceled' });
    expect(await payments.findPaymentById(other.id)).toEqual(other);
    await observations.advanceExpiryWatermark([], { from: one.id, to: other.id }, decide);
    expect(await observations.readExpiryWatermark()).toBe(other.id);
  });

  it('stops the expiry watermark below a payment that is to be visited again', async () => {
    const [first, second, third] = (await givePayments(store, 3)) as [Payment, Payment, Payment];
    const ids = [first.id, second.id, third.id];
    await observations.advanceExpiryWatermark(ids, { from: '', to: third.id }, ({ payment }) =>
      payment.id === second.id ? { change: {}, revisitExpiry: true } : null,
    );
    const watermark = await observations.readExpiryWatermark();
    expect(watermark > first.id || first.id.startsWith(watermark)).toBe(true);
    expect((await payments.listPaymentIds(watermark, 'g', 10)).slice(-2)).toEqual([second.id, third.id]);
  });

  it('moves the expiry watermark back below a payment that fell back, and no step moves it over it unseen', async () => {
    const [first, second, third] = (await givePayments(store, 3)) as [Payment, Payment, Payment];
    await observations.advanceExpiryWatermark([], { from: '', to: third.id }, leave);
    const fallBack = () => ({
      change: { releaseRefusals: 0, note: 'fell back' },
      revisitExpiry: true as const,
    });
    await payments.decidePayment(second.id, fallBack);

    const watermark = await observations.readExpiryWatermark();
    expect(watermark < second.id).toBe(true);
    expect(watermark > first.id || first.id.startsWith(watermark)).toBe(true);
    await observations.advanceExpiryWatermark([], { from: third.id, to: 'g' }, leave);
    expect(await observations.readExpiryWatermark()).toBe(watermark);
    expect(await payments.listPaymentIds(watermark, 'g', 10)).toContain(second.id);
  });
}
