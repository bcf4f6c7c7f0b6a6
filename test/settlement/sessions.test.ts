import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MAXIMUM_SESSIONS_PER_PAYMENT } from '../../src/domain/provider-session.ts';
import type { LocalChain } from '../chain/local-chain.ts';
import {
  ENOUGH_UNITS,
  EXPECTED_UNITS,
  openSettlement,
  type Settlement,
  startSettlementChain,
} from './harness.ts';

let chain: LocalChain;
let settlement: Settlement;

beforeAll(async () => {
  chain = await startSettlementChain();
});
afterAll(() => chain.stop());
beforeEach(async () => {
  settlement = await openSettlement(chain);
  await settlement.watch();
});
afterEach(() => settlement.close());

describe('enough', () => {
  it('is the lowest quote of all started sessions less the tolerance, and without a quote as at creation', async () => {
    const payment = await settlement.create();
    const enoughAfter = async (quotedUnits: bigint | null) => {
      settlement.session.quotedUnits = quotedUnits;
      await settlement.startSession(payment);
      settlement.advance(settlement.session.lifetimeMs);
      return (await settlement.read(payment)).enoughUnits;
    };
    expect(await enoughAfter(null)).toBe(ENOUGH_UNITS);
    expect(await enoughAfter(97_000_000n)).toBe(95_060_000n);
    expect(await enoughAfter(99_000_000n)).toBe(95_060_000n);
    expect(await enoughAfter(96_000_001n)).toBe(94_080_000n);
    expect(await enoughAfter(null)).toBe(94_080_000n);
  });

  it('is never nothing, whatever a provider quotes', async () => {
    const payment = await settlement.create();
    settlement.session.quotedUnits = 0n;
    await settlement.startSession(payment);
    expect((await settlement.read(payment)).enoughUnits).toBe(1n);
    expect(await settlement.state(payment)).toBe('unpaid/pending');
  });

  it('that a lower quote makes of what is there already lets it be released', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, 90_000_000n);
    await settlement.mine();
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    settlement.session.quotedUnits = 91_000_000n;
    await settlement.startSession(payment);
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
    await settlement.startSession(payment);
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

  it('stays on record but changes nothing when the payment was canceled while the provider was answering', async () => {
    const payment = await settlement.create();
    settlement.session.quotedUnits = 50_000_000n;
    settlement.session.meanwhile = async () => void (await settlement.cancel(payment));
    await settlement.startSession(payment);
    expect(await settlement.read(payment)).toMatchObject({ status: 'canceled', enoughUnits: ENOUGH_UNITS });
    const view = await settlement.store.payments.viewPayment(payment.id);
    expect(view?.sessions).toHaveLength(1);
  });

  it('is started so often and no more', async () => {
    const payment = await settlement.create();
    for (let count = 0; count < MAXIMUM_SESSIONS_PER_PAYMENT; count++) {
      await settlement.startSession(payment);
      settlement.advance(settlement.session.lifetimeMs);
    }
    await expect(settlement.startSession(payment)).rejects.toMatchObject({ errorName: 'rate_limited' });
  });
});
