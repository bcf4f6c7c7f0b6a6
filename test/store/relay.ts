import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import type { RelayBatch } from '../../src/settlement/settlement-store.ts';
import { RelayConflictError } from '../../src/store/store-errors.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  atOnce,
  givePayment,
  givePayments,
  leave,
  NOW_MS,
  newAttempt,
  newBatch,
  recordingDecide,
  type StoreContext,
} from './fixtures.ts';

export function relayPromises(context: StoreContext): void {
  const { store } = context;
  const { relay } = store;
  const claim = (relayer = 'one', limit = 10) => relay.claimDueReleases(relayer, NOW_MS, limit, 60_000);

  it('lists due releases, the longest waiting first, and none that is carried or not yet due', async () => {
    const late = await givePayment(store, { releaseDueAtMs: NOW_MS });
    const early = await givePayment(store, { releaseDueAtMs: NOW_MS - 5 });
    await givePayment(store, { releaseDueAtMs: NOW_MS + 1 });
    await givePayment(store);
    expect(await claim()).toEqual([early, late]);
    expect(await claim('one', 1)).toEqual([early]);
    await relay.openBatch(newBatch([early]), leave);
    expect(await claim()).toEqual([late]);
  });

  it('lets one relayer claim a due release until it drops its claims, and another what is left', async () => {
    const payments = await givePayments(store, 5, { releaseDueAtMs: NOW_MS });
    expect(await claim('one', 2)).toEqual(payments.slice(0, 2));
    expect(await claim('other', 2)).toEqual(payments.slice(2, 4));
    expect(await claim('one')).toEqual([0, 1, 4].map((index) => payments[index]));
    expect(await claim('other')).toEqual(payments.slice(2, 4));
    expect(await claim('third')).toEqual([]);
    await relay.dropClaims('one');
    expect(await claim('third')).toEqual([0, 1, 4].map((index) => payments[index]));
  });

  it('gives every due release to one of the relayers that claim at once', async () => {
    const payments = await givePayments(store, 60, { releaseDueAtMs: NOW_MS });
    const claimed = await atOnce(12, (index) => claim(`relayer ${index}`, 7));
    const ids = claimed.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // Nobody waits for another, so some may get less than they asked for; nothing is out of reach for that.
    const left = await claim('last', 100);
    expect([...ids, ...left.map(({ id }) => id)].sort()).toEqual(payments.map(({ id }) => id).sort());
  });

  it('lets a claim end by itself, for its relayer may be gone', async () => {
    const [payment] = await givePayments(store, 1, { releaseDueAtMs: NOW_MS });
    expect(await relay.claimDueReleases('gone', NOW_MS, 10, 300)).toEqual([payment]);
    expect(await claim('other')).toEqual([]);
    const taken = await waitFor('the claim to end', 60_000, async () => {
      const found = await claim('other');
      return found.length > 0 && found;
    });
    expect(taken).toEqual([payment]);
    expect(await claim('gone')).toEqual([]);
  });

  it('lists what is due further ahead than any delay is long, because the clock was set back', async () => {
    const hourMs = 3_600_000;
    const first = await givePayment(store, { releaseDueAtMs: NOW_MS + 60_001 });
    await givePayment(store, { releaseDueAtMs: NOW_MS + 60_000 });
    await givePayment(store, { releaseDueAtMs: NOW_MS + hourMs, releaseRefusals: 1 });
    await givePayment(store, { releaseDueAtMs: NOW_MS + hourMs, noOpBatches: 1 });
    const refused = { releaseDueAtMs: NOW_MS + hourMs + 1, releaseRefusals: 1 };
    const later = await givePayment(store, refused);
    expect(await claim()).toEqual([first, later]);
  });

  it('lists the open batches of all relayers, the oldest first', async () => {
    const payments = await givePayments(store, 3);
    const opened = [];
    for (const [index, payment] of payments.entries()) {
      opened.push(await relay.openBatch(newBatch([payment], { relayer: `relayer ${index}` }), leave));
    }
    expect(await relay.listOpenBatches(10)).toEqual(opened);
    expect(await relay.listOpenBatches(1)).toEqual(opened.slice(0, 1));
    await relay.closeBatch(opened[0]?.id as number, 'abandoned', NOW_MS, leave);
    await context.reopen();
    expect(await relay.listOpenBatches(10)).toEqual(opened.slice(1));
  });

  it('keeps a batch with its attempts exactly as signed, also over a restart', async () => {
    const payments = await givePayments(store, 3);
    const opened = await relay.openBatch(newBatch(payments.toReversed()), leave);
    const bump = newAttempt();
    await relay.addAttempt(opened.id, bump);
    await context.reopen();
    expect(await relay.listOpenBatchesOf(opened.relayer)).toEqual([
      { ...opened, attempts: [...opened.attempts, bump] },
    ]);
    expect(await relay.listOpenBatchesOf('another')).toEqual([]);
  });

  it('takes the same signed bytes again in a later batch, as when nonce and fees are those of one given up', async () => {
    const payments = await givePayments(store, 1, { releaseDueAtMs: NOW_MS });
    const first = await relay.openBatch(newBatch(payments), leave);
    await relay.closeBatch(first.id, 'abandoned', NOW_MS, leave);
    const { attempts, relayer } = first;
    const second = await relay.openBatch(newBatch(payments, { attempts, relayer }), leave);
    expect(await relay.listOpenBatchesOf(relayer)).toEqual([second]);
    expect(second.attempts).toEqual(attempts);
  });

  it('knows the nonce after the highest batch of a relayer, in flight or mined, and none before or after one given up', async () => {
    const [payment, other] = await givePayments(store, 2);
    const one = newBatch([payment as Payment], { nonce: 7 });
    const { relayer } = one;
    const next = () => relay.findNextNonce(relayer);
    expect(await next()).toBeNull();
    const first = await relay.openBatch(one, leave);
    expect(await next()).toBe(8);
    await relay.closeBatch(first.id, 'resolved', NOW_MS, leave);
    expect(await next()).toBe(8);
    const lower = await relay.openBatch({ ...one, nonce: 6 }, leave);
    expect(await next()).toBe(8);
    await relay.closeBatch(lower.id, 'resolved', NOW_MS, leave);
    const elsewhere = newBatch([other as Payment], { nonce: 20, relayer: 'another' });
    const { id } = await relay.openBatch(elsewhere, leave);
    await relay.closeBatch(id, 'resolved', NOW_MS, leave);
    await context.reopen();
    expect(await next()).toBe(8);
    const second = await relay.openBatch({ ...one, nonce: 8 }, leave);
    await relay.closeBatch(second.id, 'abandoned', NOW_MS, leave);
    expect(await next()).toBeNull();
    await relay.openBatch({ ...one, nonce: 5 }, leave);
    expect(await next()).toBe(6);
  });

  it('lists the open batches of a relayer by nonce, and the relayers that have some', async () => {
    const payments = await givePayments(store, 4);
    const opened = [];
    for (const [index, nonce] of [9, 7, 8].entries()) {
      opened.push(await relay.openBatch(newBatch([payments[index] as Payment], { nonce }), leave));
    }
    const elsewhere = newBatch([payments[3] as Payment], { nonce: 7, relayer: 'another' });
    const other = await relay.openBatch(elsewhere, leave);
    const [nine, seven, eight] = opened;
    expect(await relay.listOpenBatchesOf((nine as RelayBatch).relayer)).toEqual([seven, eight, nine]);
    expect(await relay.listRelayersInFlight()).toEqual([(nine as RelayBatch).relayer, 'another']);
    await relay.closeBatch(other.id, 'resolved', NOW_MS, leave);
    await relay.closeBatch((eight as RelayBatch).id, 'resolved', NOW_MS, leave);
    await context.reopen();
    const { relay: reopened } = store;
    expect(await reopened.listOpenBatchesOf((nine as RelayBatch).relayer)).toEqual([seven, nine]);
    expect(await reopened.listRelayersInFlight()).toEqual([(nine as RelayBatch).relayer]);
  });

  it('keeps a self-transfer, which carries nothing, and puts one in the place of a batch whose payments are freed', async () => {
    const payments = await givePayments(store, 2, { releaseDueAtMs: NOW_MS });
    const fill = newBatch([], { kind: 'self_transfer', nonce: 1 });
    const filled = await relay.openBatch(fill, leave);
    const batch = await relay.openBatch(newBatch(payments, { nonce: 2 }), leave);
    const decide = recordingDecide();
    const replacement = newBatch([], { kind: 'self_transfer', nonce: 2 });
    const replaced = await relay.replaceBatch(batch.id, replacement, NOW_MS, decide);
    expect(decide.ids).toEqual(batch.paymentIds);
    expect(await claim()).toHaveLength(2);
    await context.reopen();
    expect(await relay.listOpenBatchesOf(batch.relayer)).toEqual([filled, replaced]);
    await relay.closeBatch(filled.id, 'resolved', NOW_MS, leave);
    await expect(relay.openBatch(newBatch(payments, { kind: 'self_transfer' }), leave)).rejects.toThrow(
      RangeError,
    );
  });

  it('replaces a batch at its nonce by some of its payments and frees the others, in one commit', async () => {
    const payments = await givePayments(store, 3, { releaseDueAtMs: NOW_MS });
    const [first, second, third] = payments as [Payment, Payment, Payment];
    const batch = await relay.openBatch(newBatch(payments), leave);
    const carriers: (number | null)[] = [];
    const decide = recordingDecide(({ payment }) => {
      carriers.push(payment.relayBatchId);
      return { change: { forwardStatus: payment.relayBatchId === null ? 'ready' : 'processing' } };
    });
    const replacement = newBatch([first, second]);
    const opened = await relay.replaceBatch(batch.id, replacement, NOW_MS, decide);
    expect(opened).toEqual({ ...replacement, id: opened.id });
    expect(decide.ids).toEqual(batch.paymentIds);
    expect(carriers).toEqual([opened.id, opened.id, null]);
    await context.reopen();
    expect(await relay.listOpenBatches(10)).toEqual([opened]);
    expect((await claim()).map(({ id }) => id)).toEqual([third.id]);
    await expect(relay.closeBatch(batch.id, 'resolved', NOW_MS, leave)).rejects.toThrow();
    await relay.closeBatch(opened.id, 'resolved', NOW_MS, leave);
    expect(await relay.findNextNonce(batch.relayer)).toBe(batch.nonce + 1);
  });

  it('replaces no batch by one of another nonce, relayer or kind, or with other payments, nor when a decision throws', async () => {
    const payments = await givePayments(store, 3);
    const [first, second, third] = payments as [Payment, Payment, Payment];
    const batch = await relay.openBatch(newBatch([first, second]), leave);
    const wrong = [
      newBatch([first], { nonce: 8 }),
      newBatch([first], { relayer: 'another' }),
      newBatch([first], { kind: 'rescue' }),
      newBatch([first, third]),
      newBatch([]),
      newBatch([first], { attempts: [] }),
    ];
    for (const replacement of wrong) {
      await expect(relay.replaceBatch(batch.id, replacement, NOW_MS, leave)).rejects.toThrow(RangeError);
    }
    const throwing = recordingDecide(() => {
      throw new Error('no');
    });
    await expect(relay.replaceBatch(batch.id, newBatch([first]), NOW_MS, throwing)).rejects.toThrow('no');
    await expect(relay.replaceBatch(batch.id + 1, newBatch([first]), NOW_MS, leave)).rejects.toThrow();
    expect(await relay.listOpenBatches(10)).toEqual([batch]);
    for (const { id } of [first, second]) {
      expect(await store.payments.findPaymentById(id)).toMatchObject({ relayBatchId: batch.id });
    }
  });

  it('marks the payments before they are decided, and frees them before they are decided again', async () => {
    const payments = await givePayments(store, 2, { releaseDueAtMs: NOW_MS });
    const carriers: (number | null)[] = [];
    const decide = recordingDecide(({ payment }) => {
      carriers.push(payment.relayBatchId);
      return { change: { forwardStatus: payment.relayBatchId === null ? 'ready' : 'processing' } };
    });
    const batch = await relay.openBatch(newBatch(payments), decide);
    expect(await store.payments.findPaymentById(payments[0]?.id as string)).toMatchObject({
      relayBatchId: batch.id,
      forwardStatus: 'processing',
    });
    await relay.closeBatch(batch.id, 'resolved', NOW_MS, decide);
    expect(await store.payments.findPaymentById(payments[1]?.id as string)).toMatchObject({
      relayBatchId: null,
      forwardStatus: 'ready',
    });
    expect(carriers).toEqual([batch.id, batch.id, null, null]);
    expect(decide.ids).toEqual([...batch.paymentIds, ...batch.paymentIds]);
    expect(await relay.listOpenBatchesOf(batch.relayer)).toEqual([]);
    expect(await claim()).toHaveLength(2);
  });

  it('lets a relayer have one batch in flight at a nonce, whoever asks at once', async () => {
    const payments = await givePayments(store, 20);
    const outcomes = await Promise.allSettled(
      payments.map((payment) => relay.openBatch(newBatch([payment]), leave)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const carried = await store.payments.listPayments({}, null, 100);
    expect(carried.filter(({ relayBatchId }) => relayBatchId !== null)).toHaveLength(1);
    const other = newBatch([payments[19] as (typeof payments)[number]], { relayer: 'another' });
    await expect(relay.openBatch(other, leave)).resolves.toMatchObject({ relayer: 'another' });
  });

  it('never carries a payment in two batches', async () => {
    const payments = await givePayments(store, 2);
    const outcomes = await Promise.allSettled(
      ['one', 'other'].map((relayer) => relay.openBatch(newBatch(payments, { relayer }), leave)),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('calls it a conflict where a batch of another process with the same key carries a payment', async () => {
    const [carried, free] = await givePayments(store, 2);
    await relay.openBatch(newBatch([carried as Payment], { nonce: 7 }), leave);
    const second = newBatch([carried as Payment, free as Payment], { nonce: 8 });
    await expect(relay.openBatch(second, leave)).rejects.toThrow(RelayConflictError);
    expect(await relay.listOpenBatches(10)).toHaveLength(1);
    expect((await store.payments.findPaymentById(free?.id as never))?.relayBatchId).toBeNull();
  });

  it('leaves no trace of a batch or of a closing whose decision throws', async () => {
    const payments = await givePayments(store, 3);
    const throwing = recordingDecide(({ payment }) => {
      if (payment.id === payments[2]?.id) throw new Error('no');
      return { change: { forwardStatus: 'processing' } };
    });
    await expect(relay.openBatch(newBatch(payments), throwing)).rejects.toThrow('no');
    expect(await relay.listOpenBatchesOf(newBatch([]).relayer)).toEqual([]);
    expect((await store.payments.listPayments({}, null, 10)).toReversed()).toEqual(payments);

    const batch = await relay.openBatch(newBatch(payments), leave);
    await expect(relay.closeBatch(batch.id, 'abandoned', NOW_MS, throwing)).rejects.toThrow('no');
    expect(await relay.listOpenBatchesOf(batch.relayer)).toEqual([batch]);
    for (const { id } of payments) {
      expect(await store.payments.findPaymentById(id)).toMatchObject({ relayBatchId: batch.id });
    }
  });

  it('refuses what no open batch stands behind', async () => {
    const payment = await givePayment(store);
    const batch = await relay.openBatch(newBatch([payment]), leave);
    await relay.closeBatch(batch.id, 'abandoned', NOW_MS, leave);
    await expect(relay.closeBatch(batch.id, 'resolved', NOW_MS, leave)).rejects.toThrow();
    await expect(relay.addAttempt(batch.id, newAttempt())).rejects.toThrow();
    await expect(relay.openBatch(newBatch([]), leave)).rejects.toThrow(RangeError);
    await expect(relay.openBatch(newBatch([payment], { attempts: [] }), leave)).rejects.toThrow(RangeError);
    await expect(relay.openBatch(newBatch([payment], { paymentIds: ['unknown'] }), leave)).rejects.toThrow();
    const [next] = await atOnce(1, () => relay.openBatch(newBatch([payment]), leave));
    expect(next?.id).not.toBe(batch.id);
  });
}
