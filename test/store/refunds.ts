import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  bookTransfer,
  decideCancellation,
  decideOpening,
  type Refund,
  type RefundView,
  refundableUnits,
} from '../../src/features/refunds/refund.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { IDEMPOTENCY_TTL_MS } from '../../src/payment/retention-periods.ts';
import { newRefund as newRefundOf } from '../support/refunds.ts';
import { ADDRESS, atOnce, givePayment, NOW_MS, type StoreContext } from './fixtures.ts';

let made = 0;
const newRefund = (payment: Payment, change: Partial<Refund> = {}) =>
  newRefundOf(payment, { createdAtMs: NOW_MS, destination: ADDRESS, ...change });

export function refundPromises(context: StoreContext): void {
  const { store } = context;
  const { observations, refunds, emails } = store;
  const create = (refund: Refund, limit = 100_000_000n) =>
    refunds.createRefund(refund, (view) => decideOpening(view, refund.units, limit), NOW_MS);
  const transferOf = (refund: Refund, change: object = {}) => ({
    recipient: ADDRESS as `0x${string}`,
    sender: ADDRESS as `0x${string}`,
    units: refund.units,
    blockNumber: 12,
    logIndex: 3,
    transactionHash: `0x${'ab'.repeat(32)}`,
    ...change,
  });
  const book = (refund: Refund, change: object = {}, limit = 100_000_000n) =>
    refunds.changeRefund(
      refund,
      (view) => bookTransfer(view, [transferOf(refund, change)], limit, NOW_MS),
      NOW_MS,
    );

  it('are kept with all their fields, and found by id, link and payment', async () => {
    const payment = await givePayment(store);
    const refund = await create(newRefund(payment, { reason: 'Broken' }));
    await context.reopen();
    expect(await refunds.findRefund(payment.accountId, refund.id)).toEqual(refund);
    expect(await refunds.findRefund('another account', refund.id)).toBeNull();
    expect(await refunds.findRefundOfLink(refund.id)).toEqual(refund);
    expect(await refunds.findRefundOfLink('rfd_another')).toBeNull();
    expect(await refunds.listRefunds(payment.id)).toEqual([refund]);
  });

  it('never add up to more than was received, however many are opened at once', async () => {
    const payment = await givePayment(store);
    const opened = await Promise.allSettled(
      Array.from({ length: 10 }, () => create(newRefund(payment, { units: 4_000_000n }), 10_000_000n)),
    );
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    const stored = await refunds.listRefunds(payment.id);
    expect(refundableUnits(10_000_000n, stored, NOW_MS)).toBeLessThan(4_000_000n);
  });

  it('to one address ask for different amounts, whichever payments they are of', async () => {
    const payments = [await givePayment(store), await givePayment(store)];
    const opened = await atOnce(6, (index) => create(newRefund(payments[index % 2] as Payment)));
    expect(new Set(opened.map(({ units }) => units)).size).toBe(6);
    for (const { units } of opened) expect(units).toBeLessThanOrEqual(5_000_000n);
  });

  it('take one transfer once: another refund of it is not changed', async () => {
    const payment = await givePayment(store);
    const [first, second] = [await create(newRefund(payment)), await create(newRefund(payment))];
    expect(await book(first)).toMatchObject({ status: 'paid', blockNumber: 12, sender: ADDRESS });
    expect(await book(second)).toBeNull();
    expect(await refunds.findRefund(payment.accountId, second.id)).toEqual(second);
    expect(await book(second, { logIndex: 4 })).toMatchObject({ status: 'paid', logIndex: 4 });
    expect(await refunds.isTransferCounted(`0x${'ab'.repeat(32)}`, 4)).toBe(true);
    expect(await refunds.isTransferCounted(`0x${'ab'.repeat(32)}`, 5)).toBe(false);
    const sums = await refunds.sumPaidRefunds(payment.accountId, [payment.id, 'another']);
    expect([...sums]).toEqual([[payment.id, first.units + second.units]]);
  });

  it('are watched while they wait for a transfer, those with the oldest scan first', async () => {
    const payment = await givePayment(store);
    const older = await create(newRefund(payment, { scannedBlock: 5 }));
    const newer = await create(newRefund(payment, { scannedBlock: 9 }));
    await create(newRefund(payment, { status: 'awaiting_address', destination: null }));
    await create(newRefund(payment, { expiresAtMs: NOW_MS - 1 }));
    const watched = async () => (await refunds.listWatchedRefunds(NOW_MS, 10)).map(({ id }) => id);
    expect(await watched()).toEqual([older.id, newer.id]);
    const cursor = { number: 20, hash: '0x20', timestampMs: NOW_MS };
    await observations.startCursor(cursor);
    await refunds.recordRefundScan([older.id], 20, cursor);
    expect(await watched()).toEqual([newer.id, older.id]);
    await refunds.changeRefund(newer, (view) => decideCancellation(view, NOW_MS), NOW_MS);
    expect(await watched()).toEqual([older.id]);
  });

  it('add their events, with the refund’s id, in the transaction of the change', async () => {
    const payment = await givePayment(store);
    const refund = await create(newRefund(payment));
    await book(refund);
    await expect(create(newRefund(payment), 1n)).rejects.toThrow('At most');
    await store.events.numberEvents(10);
    const { events } = await store.events.listEvents(payment.accountId, 0, 10);
    expect(events).toMatchObject([
      { type: 'refund.opened', subjectId: refund.id, paymentId: payment.id },
      { type: 'refund.paid', subjectId: refund.id },
    ]);
  });

  it('wait again where the chain lost the block of their transfer, and only those', async () => {
    const payment = await givePayment(store);
    const [kept, lost] = [await create(newRefund(payment)), await create(newRefund(payment))];
    await book(kept, { blockNumber: 11 });
    await book(lost, { blockNumber: 12, logIndex: 9 });
    const block = { number: 11, hash: '0x11', timestampMs: NOW_MS };
    await observations.startCursor({ ...block, number: 12, hash: '0x12' });
    await observations.rewindTo(block, () => null as never);
    expect(await refunds.findRefund(payment.accountId, kept.id)).toMatchObject({ status: 'paid' });
    expect(await refunds.findRefund(payment.accountId, lost.id)).toMatchObject({
      status: 'awaiting_transfer',
      transactionHash: null,
      submittedHash: `0x${'ab'.repeat(32)}`,
      scannedBlock: 10,
    });
  });

  it('take nothing that was read of a chain which was rewound since', async () => {
    const payment = await givePayment(store);
    const refund = await create(newRefund(payment));
    const cursor = { number: 20, hash: '0x20', timestampMs: NOW_MS };
    await observations.startCursor(cursor);
    await observations.rewindTo({ ...cursor, number: 15, hash: '0x15' }, () => null as never);
    const late = [
      () => refunds.recordRefundScan([refund.id], 20, cursor),
      () => refunds.recordRefundScan([refund.id], 20, { ...cursor, number: 15, hash: '0x99' }),
      () => {
        const transfers = [transferOf(refund, { blockNumber: 18 })];
        const decide = (view: RefundView) => bookTransfer(view, transfers, 100_000_000n, NOW_MS);
        return refunds.changeRefund(refund, decide, NOW_MS, cursor);
      },
    ];
    for (const write of late) await expect(write()).rejects.toThrow('is no checkpoint any more');
    expect(await refunds.findRefund(payment.accountId, refund.id)).toEqual(refund);
  });

  it('lose the email address from their reason when it is erased', async () => {
    const payment = await givePayment(store, { email: 'ada@example.com' });
    const refund = await create(newRefund(payment, { reason: 'Ada <ada@example.com> returned it' }));
    expect(await emails.eraseEmail(payment)).toBe('erased');
    const after = await refunds.findRefund(payment.accountId, refund.id);
    expect(after?.reason).not.toContain('ada@example.com');
    expect({ ...after, reason: null }).toEqual({ ...refund, reason: null });
  });

  it('are opened once for a key within a day, however the repetitions interleave', async () => {
    const step = fc.record({ key: fc.nat(3), atMs: fc.nat(3).map((days) => days * 13 * 3_600_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const payment = await givePayment(store);
        const run = ++made;
        const inOrder = steps.toSorted((a, b) => a.atMs - b.atMs);
        const openAt = ({ key, atMs }: (typeof steps)[number]) => {
          const idempotencyKey = `${run} ${key}`;
          const draft = newRefund(payment, { createdAtMs: NOW_MS + atMs, units: 1_000n, idempotencyKey });
          return refunds.createRefund(
            draft,
            (view) => decideOpening(view, draft.units, 1_000_000_000n),
            NOW_MS + atMs,
          );
        };
        for (const atMs of new Set(inOrder.map((one) => one.atMs))) {
          const together = inOrder.filter((one) => one.atMs === atMs);
          await Promise.all(together.map(openAt));
        }
        for (const key of new Set(steps.map((one) => one.key))) {
          const all = await refunds.listRefunds(payment.id);
          const times = all
            .filter(({ idempotencyKey }) => idempotencyKey === `${run} ${key}`)
            .map(({ createdAtMs }) => createdAtMs);
          const asked = inOrder.filter((one) => one.key === key).map(({ atMs }) => NOW_MS + atMs);
          const expected: number[] = [];
          for (const atMs of asked) {
            const last = expected.at(-1);
            if (last === undefined || atMs - last >= IDEMPOTENCY_TTL_MS) expected.push(atMs);
          }
          expect(times).toEqual(expected);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('never exceed what was received under any order of openings, transfers and cancellations', async () => {
    const step = fc.record({
      kind: fc.constantFrom('open', 'pay', 'pay other amount', 'cancel'),
      which: fc.nat(5),
      units: fc.bigInt({ min: 1n, max: 12_000_000n }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const payment = await givePayment(store);
        const limit = 10_000_000n;
        for (const { kind, which, units } of steps) {
          const all = await refunds.listRefunds(payment.id);
          const refund = all[which % Math.max(all.length, 1)];
          const transactionHash = `0x${(++made).toString(16)}`;
          if (kind === 'open') await create(newRefund(payment, { units }), limit).catch(() => null);
          else if (refund === undefined) continue;
          else if (kind === 'cancel')
            await refunds
              .changeRefund(refund, (view) => decideCancellation(view, NOW_MS), NOW_MS)
              .catch(() => null);
          else await book(refund, { transactionHash, ...(kind === 'pay' ? {} : { units }) }, limit);
        }
        const paid = (await refunds.listRefunds(payment.id)).filter(({ status }) => status === 'paid');
        expect(paid.reduce((sum, { units }) => sum + units, 0n) <= limit).toBe(true);
      }),
      { numRuns: 15 },
    );
  });
}
