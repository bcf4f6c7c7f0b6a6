import { describe, expect, it } from 'vitest';
import type { PaymentId } from '../../src/payment/payment.ts';
import { ENOUGH_UNITS, HOUR_MS, useSettlement } from './harness.ts';

const { settlement } = useSettlement();

const cannotBePaid = { errorName: 'payment_state_conflict' };

/** Of 100 USD, so that shares are easy to read. */
const createOf100 = () => settlement.create({ amountCents: 100_00 });

describe('the paid threshold', () => {
  it('is not lowered by a provider whose quote keeps more than the maximum fee: the session is not used', async () => {
    await settlement.store.accounts.updateAccount(settlement.account.id, {
      maxProviderFeeBasisPoints: 1_000,
    });
    const account = await settlement.store.accounts.findAccount(settlement.account.id);
    const payment = await settlement.create({ amountCents: 100_00 }, {}, account ?? settlement.account);
    settlement.session.quotedUnits = 89_999_999n;
    await expect(settlement.startSession(payment)).rejects.toMatchObject({
      errorName: 'below_minimum',
      message:
        'The fee quoted by Wert is at most 10 % from about 100.01 USD; the amount given is 100.00 USD.',
    });
    expect((await settlement.read(payment)).paidThresholdUnits).toBe(98_000_000n);
    settlement.session.quotedUnits = 90_000_000n;
    await settlement.startSession(payment);
    expect((await settlement.read(payment)).paidThresholdUnits).toBe(88_200_000n);
  });

  it('that a lower quote brings down to what is there already lets it be released', async () => {
    const payment = await createOf100();
    settlement.session.quotedUnits = 91_000_000n;
    settlement.session.meanwhile = async () => {
      await settlement.deposit(payment, 90_000_000n);
      await settlement.mineAndWatch();
      expect(await settlement.state(payment)).toBe('unpaid/pending');
    };
    await expect(settlement.startSession(payment)).rejects.toMatchObject(cannotBePaid);
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', receivedUnits: 90_000_000n });
  });

  it('of a payment that was paid while a provider was still answering is not changed by its quote', async () => {
    const payment = await createOf100();
    settlement.session.quotedUnits = 80_000_000n;
    settlement.session.meanwhile = async () => {
      await settlement.deposit(payment, 98_000_000n);
      await settlement.mineAndWatch();
      await settlement.relay();
    };
    await expect(settlement.startSession(payment)).rejects.toMatchObject(cannotBePaid);
    expect(await settlement.read(payment)).toMatchObject({
      forwardStatus: 'processing',
      paidThresholdUnits: 98_000_000n,
    });
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', receivedUnits: 98_000_000n });
  });
});

describe('a session for the rest', () => {
  /** 60 of 100 USD arrived: 38 of 98 USDC are missing, which is 38.78 USD of the charge. */
  async function createPartlyPaid(account = settlement.account) {
    const payment = await settlement.create({ amountCents: 100_00 }, {}, account);
    await settlement.deposit(payment, 60_000_000n);
    await settlement.mineAndWatch();
    return payment;
  }
  const sessionsOf = async ({ id }: { readonly id: PaymentId }) =>
    (await settlement.store.payments.viewPayment(id))?.sessions ?? [];

  it('charges what is missing, and what it delivers completes the payment', async () => {
    const payment = await createPartlyPaid();
    settlement.session.quotedUnits = 36_000_000n;
    await settlement.startSession(payment);
    expect(await sessionsOf(payment)).toMatchObject([{ chargedCents: 38_78, receivedUnits: 60_000_000n }]);
    expect((await settlement.read(payment)).paidThresholdUnits).toBe(95_280_000n);
    await settlement.deposit(payment, 35_279_999n);
    await settlement.mineAndWatch();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    await settlement.deposit(payment, 1n);
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', receivedUnits: 95_280_000n });
  });

  it('is used again until more arrives', async () => {
    const payment = await createPartlyPaid();
    const first = await settlement.startSession(payment);
    expect(await settlement.startSession(payment)).toEqual(first);
    await settlement.deposit(payment, 10_000_000n);
    await settlement.mineAndWatch();
    const second = await settlement.startSession(payment);
    expect(second).toMatchObject({ receivedUnits: 70_000_000n });
    expect(second.chargedCents).toBeLessThan(first.chargedCents);
  });
});

describe('a session', () => {
  it('is started once by two clicks at the same time, and used again until it expires', async () => {
    const payment = await settlement.create();
    const [first, twin] = await Promise.all([
      settlement.startSession(payment),
      settlement.startSession(payment),
    ]);
    expect(twin).toEqual(first);
    settlement.advance(settlement.session.lifetimeMs - 1);
    expect(await settlement.startSession(payment)).toEqual(first);
    settlement.advance(1);
    expect((await settlement.startSession(payment)).id).not.toBe(first.id);
    expect(settlement.session.started).toHaveLength(2);
  });

  it('is on record but handed to nobody when the payment was canceled while the provider was answering', async () => {
    const payment = await settlement.create();
    settlement.session.quotedUnits = 80_000_000n;
    settlement.session.meanwhile = async () => void (await settlement.cancel(payment));
    await expect(settlement.startSession(payment)).rejects.toMatchObject(cannotBePaid);
    expect(await settlement.read(payment)).toMatchObject({
      status: 'canceled',
      paidThresholdUnits: ENOUGH_UNITS,
    });
    const view = await settlement.store.payments.viewPayment(payment.id);
    expect(view?.sessions).toHaveLength(1);
  });

  it.each([
    ['a time long past', -1_000 * HOUR_MS, 60_000],
    ['this moment', 0, 60_000],
    ['an hour', HOUR_MS, HOUR_MS],
    ['a thousand years', 8_766_000 * HOUR_MS, 24 * HOUR_MS],
  ])('that the provider ends at %s ends within a minute and a day', async (_what, lifetimeMs, boundedMs) => {
    const payment = await settlement.create();
    settlement.session.lifetimeMs = lifetimeMs;
    const session = await settlement.startSession(payment);
    expect(session.expiresAtMs).toBe(settlement.nowMs() + boundedMs);
    const view = await settlement.store.payments.viewPayment(payment.id);
    expect(view?.sessions[0]?.expiresAtMs).toBe(session.expiresAtMs);
  });
});
