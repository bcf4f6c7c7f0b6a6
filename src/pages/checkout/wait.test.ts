import { describe, expect, it } from 'vitest';
import type { StateChange } from '../../payment/payment-search-store.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import type { ProviderSession } from '../../payment/provider-session.ts';
import type { CheckoutView } from './checkout-view.ts';
import { type WaitTimes, waitOf, waitTimesOf } from './wait.ts';

const session = (change: Partial<ProviderSession>) =>
  ({
    provider: 'moonpay',
    progress: 'delivering',
    progressAtMs: 9,
    approvedAtMs: null,
    ...change,
  }) as ProviderSession;
const timesOf = (sessions: ProviderSession[], ...changes: [StateChange['state'], number][]) =>
  waitTimesOf(
    { sessions },
    changes.map(([state, atMs]) => ({ state, atMs })),
  );

describe('the times of a wait', () => {
  it('are those of the latest approval, exact only where the provider reported it', () => {
    const exact = session({ provider: 'wert', progress: 'delivered', approvedAtMs: 7 });
    expect(timesOf([exact, session({ approvedAtMs: 3 })]).approval).toEqual({
      provider: 'wert',
      atMs: 7,
      isExact: true,
    });
    expect(timesOf([exact, session({ progressAtMs: 8 })]).approval).toMatchObject({
      atMs: 8,
      isExact: false,
    });
    expect(timesOf([session({ progress: 'failed' }), session({ progress: null })]).approval).toBeNull();
  });

  it('begin anew with the arrival after a reorganization', () => {
    const gone = [
      ['unpaid/ready', 1],
      ['unpaid/processing', 2],
      ['unpaid/pending', 3],
    ] as const satisfies [StateChange['state'], number][];
    expect(timesOf([], ...gone)).toMatchObject({ arrivedAtMs: null, releasingAtMs: null });
    const again = timesOf([], ...gone, ['unpaid/ready', 5], ['unpaid/processing', 6], ['unpaid/ready', 7]);
    expect(again).toMatchObject({ arrivedAtMs: 5, releasingAtMs: 6 });
  });
});

describe('a wait', () => {
  const at = (provider: ProviderId, progress: 'delivering' | null) =>
    ({ kind: 'at_provider', provider, progress }) as CheckoutView;
  const approvedBy = (provider: ProviderId): WaitTimes => ({
    approval: { provider, atMs: 0, isExact: true },
    arrivedAtMs: null,
    releasingAtMs: null,
  });
  const minutes = (count: number) => count * 60_000;

  it.each([
    ['wert', 10],
    ['moonpay', 30],
    ['klarna', 30],
  ] as const)('is long at %s only after %i minutes, twice the usual time', (provider, usualTwice) => {
    const isLateAt = (nowMs: number) =>
      waitOf({ view: at(provider, 'delivering'), times: approvedBy(provider), offers: [], nowMs })?.isLate;
    expect(isLateAt(minutes(usualTwice))).toBe(false);
    expect(isLateAt(minutes(usualTwice) + 1)).toBe(true);
  });

  it('counts from the arrival once the money has arrived, and never for a release that is known to be delayed', () => {
    const times = { ...approvedBy('wert'), arrivedAtMs: minutes(60) };
    const isLate = (kind: 'seen' | 'held', nowMs: number) =>
      waitOf({ view: { kind }, times, offers: [], nowMs })?.isLate;
    expect([isLate('seen', minutes(62)), isLate('seen', minutes(62) + 1)]).toEqual([false, true]);
    expect(isLate('held', minutes(99))).toBe(false);
  });

  it('exists only after the provider took the money, and does not use the approval of another provider', () => {
    const times = approvedBy('wert');
    expect(waitOf({ view: at('wert', null), times, offers: [], nowMs: 0 })).toBeNull();
    expect(waitOf({ view: { kind: 'canceled' }, times, offers: [], nowMs: 0 })).toBeNull();
    const other = waitOf({ view: at('moonpay', 'delivering'), times, offers: [], nowMs: minutes(99) });
    expect(other).toMatchObject({ sinceMs: null, isLate: false, times: [null, null, null] });
  });
});
