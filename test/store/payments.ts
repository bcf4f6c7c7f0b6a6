import fc from 'fast-check';
import { expect, it } from 'vitest';
import { UnknownStateError } from '../../src/payment/errors.ts';
import type { Payment } from '../../src/payment/payment.ts';
import type { PaymentView } from '../../src/payment/payment-store.ts';
import type { ProviderSession, SessionProgress } from '../../src/payment/provider-session.ts';
import {
  atOnce,
  DAY_MS,
  giveAccount,
  givePayment,
  givePayments,
  leave,
  NOW_MS,
  newPayment,
  newRecord,
  newSession,
  pay,
  type StoreContext,
} from './fixtures.ts';

/** Larger than 64 bits hold: a token can move any 256-bit number. */
const HUGE = 2n ** 256n - 1n;

export function paymentPromises(context: StoreContext): void {
  const { store } = context;
  const { visits, webhooks } = store;
  it('takes a text of anybody, also with a NUL or half a character', async () => {
    const payment = await givePayment(store);
    const releaseRefusalReason = 'no\u0000\ud83d way';
    await store.payments.decidePayment(payment.id, () => ({ change: { releaseRefusalReason } }));
    const { releaseRefusalReason: kept } = (await store.payments.findPaymentById(payment.id)) as Payment;
    expect(kept).toMatch(/^no.\ufffd+ way$/);
    expect(await store.payments.findPaymentById('\u0000' as Payment['id'])).toBeNull();
  });

  it('gives back a payment as it was stored, also over a restart', async () => {
    const payment = await givePayment(store);
    const changed: Partial<Payment> = {
      originalAmountCents: null,
      customerFeeCents: null,
      passFeeToCustomer: false,
      email: null,
      note: null,
      status: 'canceled',
      forwardStatus: 'manual_required',
      paidAtMs: NOW_MS,
      cancelReason: 'expired',
      receivedUnits: HUGE,
      forwardedUnits: HUGE - 1n,
      txidIn: '0x1',
      txidOut: '0x2',
      releaseRequested: true,
      releaseDueAtMs: NOW_MS,
      releaseRefusals: 3,
      releaseRefusalReason: 'blocklisted',
      relayBatchId: 9,
    };
    const other = newPayment(payment.accountId, changed);
    expect(await store.payments.createPayment(other, null)).toMatchObject({ kind: 'created' });
    await context.reopen();
    expect(await store.payments.findPaymentById(payment.id)).toEqual(payment);
    expect(await store.payments.findPaymentById(other.id)).toEqual(other);
  });

  it('creates nothing that pays to the deposit address of a payment, and leaves its Idempotency-Key free', async () => {
    const { payments } = store;
    const { accountId, depositAddress } = await givePayment(store);
    const reserved = () => newPayment(accountId, { payoutAddress: depositAddress });
    const record = newRecord(accountId, 'a key');
    const good = newPayment(accountId);
    const outcomes = await Promise.all([
      payments.createPayment(reserved(), null),
      payments.createPayment(reserved(), record),
      payments.createPayment(good, null),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['reserved', 'reserved', 'created']);
    expect(await payments.findIdempotent(accountId, record.key, 0)).toBeNull();
    expect(await payments.createPayment(newPayment(accountId), record)).toEqual({ kind: 'created' });
    expect(await payments.createPayment(reserved(), record)).toMatchObject({ kind: 'replayed' });
    expect(await payments.listPaymentIds('', '~', 10)).toHaveLength(3);
  });

  it("answers for another account's payment as for an unknown one, also where it cannot be read", async () => {
    const payment = await givePayment(store);
    await context.change(`UPDATE payments SET status = 'refunded' WHERE id = '${payment.id}'`);
    const found = store.payments.findPayment(payment.accountId, payment.id);
    await expect(found).rejects.toThrow(UnknownStateError);
    expect(await store.payments.findPayment('another', payment.id)).toBeNull();
  });

  it('fails a bad creation alone among good ones', async () => {
    const first = await givePayment(store);
    const payments = Array.from({ length: 300 }, () => newPayment(first.accountId));
    const bad = new Set([0, 7, 255, 256, 299]);
    const outcomes = await Promise.allSettled(
      payments.map((payment, index) =>
        store.payments.createPayment(bad.has(index) ? { ...payment, id: first.id } : payment, null),
      ),
    );
    for (const [index, payment] of payments.entries()) {
      expect(outcomes[index]?.status).toBe(bad.has(index) ? 'rejected' : 'fulfilled');
      expect(await store.payments.findPaymentById(payment.id)).toEqual(bad.has(index) ? null : payment);
    }
  });

  it('creates once for 200 concurrent requests with the same Idempotency-Key', async () => {
    const account = await giveAccount(context.store);
    const record = newRecord(account.id, 'the same');
    const outcomes = await atOnce(200, () => store.payments.createPayment(newPayment(account.id), record));
    expect(outcomes.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    const [only, ...others] = await store.payments.listPayments({}, null, 10);
    expect(others).toEqual([]);
    for (const outcome of outcomes) {
      if (outcome.kind === 'replayed')
        expect(outcome).toMatchObject({ payment: only, fingerprint: record.fingerprint });
    }
  });

  it('lets an Idempotency-Key be used again after 24 hours, and keeps accounts apart', async () => {
    const [one, other] = [await givePayment(store), await givePayment(store)];
    const create = (accountId: string, createdAtMs: number) =>
      store.payments.createPayment(newPayment(accountId), newRecord(accountId, 'k', { createdAtMs }));
    for (let index = 0; index < 20; index++) {
      const older = newRecord(one.accountId, `older ${index}`);
      await store.payments.createPayment(newPayment(one.accountId), older);
    }
    expect(await create(one.accountId, NOW_MS)).toMatchObject({ kind: 'created' });
    expect(await create(other.accountId, NOW_MS)).toMatchObject({ kind: 'created' });
    expect(await create(one.accountId, NOW_MS + DAY_MS)).toMatchObject({ kind: 'created' });
    expect(await create(one.accountId, NOW_MS + DAY_MS + 1)).toMatchObject({ kind: 'replayed' });
  });

  it('finds what an Idempotency-Key stands for if it was used after a time', async () => {
    const first = await givePayment(store);
    const payment = newPayment(first.accountId);
    await store.payments.createPayment(payment, newRecord(first.accountId, 'k'));
    const find = (key: string, sinceMs: number) =>
      store.payments.findIdempotent(first.accountId, key, sinceMs);
    expect(await find('k', NOW_MS - 1)).toEqual({ payment, fingerprint: 'of the parameters' });
    expect(await find('k', NOW_MS)).toBeNull();
    expect(await find('other', 0)).toBeNull();
    expect(await store.payments.findIdempotent('another', 'k', 0)).toBeNull();
  });

  it('keeps no Idempotency-Key of a creation that failed', async () => {
    const first = await givePayment(store);
    const record = newRecord(first.accountId, 'k');
    await expect(store.payments.createPayment(first, record)).rejects.toThrow();
    expect(await store.payments.findIdempotent(first.accountId, 'k', 0)).toBeNull();
    expect(await store.payments.createPayment(newPayment(first.accountId), record)).toMatchObject({
      kind: 'created',
    });
  });

  it('keeps no payment whose Idempotency-Key could not be kept', async () => {
    const first = await givePayment(store);
    const payment = newPayment(first.accountId);
    const unfit = newRecord(first.accountId, 'k', { fingerprint: null as unknown as string });
    await expect(store.payments.createPayment(payment, unfit)).rejects.toThrow();
    expect(await store.payments.findPaymentById(payment.id)).toBeNull();
  });

  it('applies exactly the change that was decided', async () => {
    const payment = await givePayment(store);
    const untouched = await givePayment(store);
    const change = { status: 'paid', forwardStatus: 'completed', receivedUnits: HUGE, note: 'new' } as const;
    expect(await store.payments.decidePayment(payment.id, () => ({ change }))).toEqual({
      ...payment,
      ...change,
    });
    expect(await store.payments.findPaymentById(payment.id)).toEqual({ ...payment, ...change });
    expect(await store.payments.findPaymentById(untouched.id)).toEqual(untouched);
    expect(await store.payments.decidePayment(untouched.id, leave)).toEqual(untouched);
    expect(await store.payments.decidePayment(newPayment('x').id, leave)).toBeNull();
  });

  it('loses no change of decisions that arrive together', async () => {
    const payment = await givePayment(store);
    const add = ({ payment: { receivedUnits } }: PaymentView) => ({
      change: { receivedUnits: receivedUnits + 1n },
    });
    await atOnce(500, () => store.payments.decidePayment(payment.id, add));
    expect(await store.payments.findPaymentById(payment.id)).toMatchObject({ receivedUnits: 500n });
  });

  it('leaves no trace of a decision that throws, and none of its neighbors fails with it', async () => {
    const payments = await givePayments(store, 40);
    const outcomes = await Promise.allSettled(
      payments.map((payment, index) =>
        store.payments.addSession(newSession(payment), () => {
          if (index % 3 === 0) throw new RangeError('no');
          return pay({ payment } as PaymentView);
        }),
      ),
    );
    for (const [index, payment] of payments.entries()) {
      const view = await store.payments.viewPayment(payment.id);
      const thrown = index % 3 === 0;
      expect(outcomes[index]?.status).toBe(thrown ? 'rejected' : 'fulfilled');
      expect(view?.sessions).toHaveLength(thrown ? 0 : 1);
      expect(view?.payment.status).toBe(thrown ? 'unpaid' : 'paid');
      expect(await webhooks.listWebhooks(payment.id)).toHaveLength(thrown ? 0 : 1);
    }
  });

  it('refuses a second webhook for the same event, together with its change', async () => {
    const payment = await givePayment(store);
    await store.payments.decidePayment(payment.id, pay);
    const again = () => ({ ...pay({ payment } as PaymentView), change: { note: 'twice' } });
    await expect(store.payments.decidePayment(payment.id, again)).rejects.toThrow();
    expect(await webhooks.listWebhooks(payment.id)).toHaveLength(1);
    expect(await store.payments.findPaymentById(payment.id)).toMatchObject({ note: payment.note });
  });

  it('lists how visits ended, the newest first, of whatever accounts, with nothing that names a payment', async () => {
    const visit = async (payment: Payment, change: Partial<ProviderSession>) =>
      store.payments.addSession(newSession(payment, change), leave);
    const [open, paid, reported] = (await givePayments(store, 3)) as [Payment, Payment, Payment];
    await visit(open, { provider: 'wert', createdAtMs: 10, customerCountry: 'DE' });
    await visit(open, { provider: 'banxa', createdAtMs: 11, progress: 'failed', progressAtMs: 11 });
    await visit(open, { provider: 'stripe', createdAtMs: 99 });
    await visit(paid, { provider: 'moonpay', createdAtMs: 12 });
    await visit(paid, { provider: 'revolut', createdAtMs: 13, customerCountry: 'US' });
    await visit(paid, { provider: 'banxa', createdAtMs: 14, progress: 'failed', progressAtMs: 14 });
    await visit(reported, { provider: 'transak', createdAtMs: 15, progress: 'delivered', progressAtMs: 15 });
    await visit(reported, { provider: 'wert', createdAtMs: 16 });
    for (const payment of [paid, reported]) await store.payments.decidePayment(payment.id, pay);
    const outcome = (provider: string, isDelivered: boolean, country: string | null = null) => ({
      provider,
      country,
      isDelivered,
    });
    const all = [
      outcome('wert', false),
      outcome('transak', true),
      outcome('banxa', false),
      outcome('revolut', true, 'US'),
      outcome('moonpay', false),
      outcome('banxa', false),
      outcome('wert', false, 'DE'),
    ];
    expect(await visits.listVisitOutcomes(0, 50, 100)).toEqual(all);
    // What is undecided counts once it is old enough, and only the newest are read.
    expect(await visits.listVisitOutcomes(0, 100, 100)).toEqual([outcome('stripe', false), ...all]);
    expect(await visits.listVisitOutcomes(0, 50, 3)).toEqual(all.slice(0, 2));
    expect(await visits.listVisitOutcomes(15, 50, 100)).toEqual(all.slice(0, 2));
  });

  it('shows a started session to its own decision and to every later view', async () => {
    const payment = await givePayment(store);
    const sessions = [
      newSession(payment),
      newSession(payment, {
        quotedUnits: null,
        hasEmail: false,
        customerIpHash: 'hash of an address',
        customerCountry: 'DE',
      }),
    ];
    let seen: PaymentView | undefined;
    for (const session of sessions) {
      const decided = await store.payments.addSession(session, (view) => {
        seen = view;
        return { change: { paidThresholdUnits: 5n } };
      });
      expect(decided).toEqual({ ...payment, paidThresholdUnits: 5n });
    }
    expect(seen?.sessions).toEqual(sessions);
    expect(await store.payments.viewPayment(payment.id)).toEqual({
      payment: { ...payment, paidThresholdUnits: 5n },
      observations: { deposits: [], releases: [], finalBlock: -1 },
      sessions,
    });
    const unknown = newPayment('x');
    expect(await store.payments.addSession(newSession(unknown), leave)).toBeNull();
  });

  it('keeps the latest that a provider told of a session, nothing after its delivery, and when it took the money', async () => {
    const payment = await givePayment(store);
    const [session, other] = [newSession(payment, { language: 'pt' }), newSession(payment)];
    const { payments } = store;
    for (const each of [session, other]) await payments.addSession(each, leave);
    const told = async () => {
      const view = await payments.viewPayment(payment.id);
      return view?.sessions.map(({ progress, progressAtMs, approvedAtMs }) => [
        progress,
        progressAtMs,
        approvedAtMs,
      ]);
    };
    const note = (...news: [SessionProgress, number]) =>
      payments.recordSessionProgress(payment.id, session.id, ...news);

    expect((await payments.viewPayment(payment.id))?.sessions.map(({ language }) => language)).toEqual([
      'pt',
      null,
    ]);
    expect(await note('delivering', 2_000)).toBe(true);
    expect(await note('paying', 1_000)).toBe(false);
    expect(await told()).toEqual([
      ['delivering', 2_000, 2_000],
      [null, null, null],
    ]);
    expect(await note('delivering', 2_000)).toBe(false);
    expect(await note('failed', 2_000)).toBe(false);
    expect(await note('failed', 3_000)).toBe(true);
    expect((await told())?.[0]).toEqual(['failed', 3_000, null]);
    expect(await note('delivering', 3_000)).toBe(true);
    expect(await note('paying', 4_000)).toBe(true);
    for (const atMs of [4_500, 4_600]) expect(await note('delivering', atMs)).toBe(true);
    expect(await note('delivered', 5_000)).toBe(true);
    expect(await note('failed', 6_000)).toBe(false);
    expect(await told()).toEqual([
      ['delivered', 5_000, 4_500],
      [null, null, null],
    ]);
    const { id } = await givePayment(store);
    expect(await payments.recordSessionProgress(id, other.id, 'paying', 1_000)).toBe(false);
    expect(await payments.recordSessionProgress(payment.id, 'unknown', 'paying', 1_000)).toBe(false);
  });

  it('keeps whatever text and amount a payment may carry', async () => {
    const account = await giveAccount(context.store);
    const units = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) });
    const carried = fc.record({
      note: fc.option(fc.string({ unit: 'grapheme', maxLength: 500 })),
      callbackUrl: fc.string({ unit: 'grapheme' }),
      amountCents: fc.integer({ min: 1, max: 1_000_000 }),
      usdUnits: units,
      paidThresholdUnits: units,
      receivedUnits: fc.bigInt({ min: 0n, max: HUGE }),
      paidAtMs: fc.option(fc.maxSafeNat()),
    });
    const stored = fc.asyncProperty(fc.array(carried, { minLength: 1, maxLength: 20 }), async (changes) => {
      const payments = changes.map((change) => newPayment(account.id, change));
      await Promise.all(payments.map((payment) => store.payments.createPayment(payment, null)));
      const found = await Promise.all(payments.map(({ id }) => store.payments.findPaymentById(id)));
      expect(found).toEqual(payments);
    });
    await fc.assert(stored, { numRuns: 50 });
  });
}
