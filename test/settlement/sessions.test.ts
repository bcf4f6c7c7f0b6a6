import { describe, expect, it } from 'vitest';
import { MAXIMUM_SESSIONS_PER_HOUR } from '../../src/domain/provider-session.ts';
import { ENOUGH_UNITS, EXPECTED_UNITS, HOUR_MS, useSettlement } from './harness.ts';

const { settlement } = useSettlement();

const cannotBePaid = { errorName: 'payment_state_conflict' };

describe('enough', () => {
  it('is the lowest of what all started sessions are expected to deliver, less the tolerance', async () => {
    const payment = await settlement.create();
    const enoughAfter = async (quotedUnits: bigint | null) => {
      settlement.session.quotedUnits = quotedUnits;
      await settlement.startSession(payment);
      settlement.advance(settlement.session.lifetimeMs);
      return (await settlement.read(payment)).enoughUnits;
    };
    expect(await enoughAfter(97_000_000n)).toBe(95_060_000n);
    // Without a quote, what the catalogue lets us assume of the provider; a later quote does not make it forgotten.
    expect(await enoughAfter(null)).toBe(ENOUGH_UNITS);
    expect(await enoughAfter(99_000_000n)).toBe(ENOUGH_UNITS);
    expect(await enoughAfter(94_000_001n)).toBe(92_120_000n);
    expect(await enoughAfter(null)).toBe(92_120_000n);
  });

  it.each([0n, 1n, 75_999_999n, 102_000_001n, 10n ** 15n])(
    'is not decided by a quote of %d units for 100 USD: the session is not used',
    async (quotedUnits) => {
      const payment = await settlement.create();
      settlement.session.quotedUnits = quotedUnits;
      await expect(settlement.startSession(payment)).rejects.toMatchObject({
        errorName: 'provider_unavailable',
        cause: expect.objectContaining({
          message: expect.stringContaining('for a charge of 100.000000 USD'),
        }),
      });
      expect((await settlement.read(payment)).enoughUnits).toBe(ENOUGH_UNITS);
      expect((await settlement.store.payments.viewPayment(payment.id))?.sessions).toEqual([]);
      await settlement.deposit(payment, 1n);
      await settlement.mine();
      await settlement.watch();
      expect(await settlement.state(payment)).toBe('unpaid/pending');
    },
  );

  it('that a lower quote makes of what is there already lets it be released', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, 90_000_000n);
    await settlement.mine();
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    settlement.session.quotedUnits = 91_000_000n;
    await expect(settlement.startSession(payment)).rejects.toMatchObject(cannotBePaid);
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', receivedUnits: 90_000_000n });
  });

  it('that was seen while a provider was still answering does not become too little by its quote', async () => {
    const payment = await settlement.create();
    settlement.session.quotedUnits = 99_000_000n;
    settlement.session.meanwhile = async () => {
      await settlement.deposit(payment, EXPECTED_UNITS);
      await settlement.mine();
      await settlement.watch();
      await settlement.relay();
    };
    await expect(settlement.startSession(payment)).rejects.toMatchObject(cannotBePaid);
    expect(await settlement.read(payment)).toMatchObject({
      forwardStatus: 'processing',
      enoughUnits: ENOUGH_UNITS,
    });
    await settlement.settleDown();
    expect(await settlement.read(payment)).toMatchObject({ status: 'paid', receivedUnits: EXPECTED_UNITS });
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

  it('is a new one when something has arrived but not enough, so that what is missing can be added', async () => {
    const payment = await settlement.create();
    const first = await settlement.startSession(payment);
    await settlement.deposit(payment, 1_000_000n);
    await settlement.mine();
    await settlement.watch();
    expect((await settlement.startSession(payment)).id).not.toBe(first.id);
  });

  it('is refused for a payment that is canceled, or for which enough has arrived', async () => {
    const [canceled, ready] = [await settlement.create(), await settlement.create()];
    await settlement.cancel(canceled);
    await settlement.deposit(ready, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    for (const payment of [canceled, ready]) {
      await expect(settlement.startSession(payment)).rejects.toMatchObject({
        errorName: 'payment_state_conflict',
      });
    }
    expect(settlement.session.started).toEqual([]);
  });

  it('is on record but handed to nobody when the payment was canceled while the provider was answering', async () => {
    const payment = await settlement.create();
    settlement.session.quotedUnits = 80_000_000n;
    settlement.session.meanwhile = async () => void (await settlement.cancel(payment));
    await expect(settlement.startSession(payment)).rejects.toMatchObject(cannotBePaid);
    expect(await settlement.read(payment)).toMatchObject({ status: 'canceled', enoughUnits: ENOUGH_UNITS });
    const view = await settlement.store.payments.viewPayment(payment.id);
    expect(view?.sessions).toHaveLength(1);
  });

  it('is started so often within an hour and no more, and again when the hour is over', async () => {
    const payment = await settlement.create();
    settlement.session.lifetimeMs = 60_000;
    for (let count = 0; count < MAXIMUM_SESSIONS_PER_HOUR; count++) {
      await settlement.startSession(payment);
      settlement.advance(settlement.session.lifetimeMs);
    }
    await expect(settlement.startSession(payment)).rejects.toMatchObject({ errorName: 'rate_limited' });
    settlement.advance(HOUR_MS - MAXIMUM_SESSIONS_PER_HOUR * settlement.session.lifetimeMs);
    await settlement.startSession(payment);
    expect(settlement.session.started).toHaveLength(MAXIMUM_SESSIONS_PER_HOUR + 1);
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
