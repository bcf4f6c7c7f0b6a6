import type { StateChange } from '../../payment/payment-search-store.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import { customerFacts } from '../../payment/provider-catalog.ts';
import { sellerOf } from '../../providers/provider-availability.ts';
import { type CheckoutView, isTakenByProvider } from './checkout-view.ts';

/** Times of stored events from the provider's approval to the release; null for missing events. */
export type WaitTimes = ReturnType<typeof waitTimesOf>;

/** @param changes the payment's state changes, oldest first */
export function waitTimesOf({ sessions }: Pick<PaymentView, 'sessions'>, changes: readonly StateChange[]) {
  const approvals = sessions.flatMap(({ provider, progress, progressAtMs, approvedAtMs }) => {
    const atMs = approvedAtMs ?? progressAtMs;
    if ((progress !== 'delivering' && progress !== 'delivered') || atMs === null) return [];
    // If the provider reported only a later step, the time is not exact.
    return [{ provider, atMs, isExact: approvedAtMs !== null }];
  });
  // A reorganization can return the payment to `unpaid/pending`.
  const since = changes.slice(changes.findLastIndex(({ state }) => state === 'unpaid/pending') + 1);
  return {
    approval: approvals.toSorted((one, other) => one.atMs - other.atMs).at(-1) ?? null,
    arrivedAtMs: since[0]?.atMs ?? null,
    releasingAtMs: since.findLast(({ state }) => state === 'unpaid/processing')?.atMs ?? null,
  };
}

/** Minutes assumed if a provider's usual time is unknown: the longest usual time for a card. */
const ASSUMED_MINUTES = 15;
/** Usual minutes from the arrival to the shop, as shown on the page. */
const RELEASE_MINUTES = 1;
/** Multiple of the usual time after which the page suggests what to do. */
const LATE_FACTOR = 2;
const MINUTE_MS = 60_000;

export type Wait = NonNullable<ReturnType<typeof waitOf>>;

export const waitSteps = ['approvedBy', 'onItsWay', 'confirmed', 'withShop'] as const;

interface WaitContext {
  readonly view: CheckoutView;
  readonly times: WaitTimes;
  readonly offers: Parameters<typeof sellerOf>[1];
  readonly nowMs: number;
}

/** Returns what a payment waits for; null unless it waits for the provider or the release. */
export function waitOf({ view, times, offers, nowMs }: WaitContext) {
  const { arrivedAtMs, releasingAtMs } = times;
  // Ignores an approval by another provider, which is from an earlier visit.
  const isOwn = view.kind !== 'at_provider' || times.approval?.provider === view.provider;
  const approval = isOwn ? times.approval : null;
  const current = isTakenByProvider(view) ? 1 : view.kind === 'seen' ? 2 : 3;
  if (current === 3 && view.kind !== 'sending' && view.kind !== 'held') return null;
  const usualMinutes =
    view.kind === 'at_provider'
      ? (customerFacts[sellerOf(view.provider, offers)].usualMinutes?.[1] ?? ASSUMED_MINUTES)
      : RELEASE_MINUTES;
  const stepSinceMs = current === 1 ? approval?.atMs : arrivedAtMs;
  return {
    sinceMs: approval?.atMs ?? arrivedAtMs,
    isLate: view.kind !== 'held' && nowMs - (stepSinceMs ?? nowMs) > LATE_FACTOR * usualMinutes * MINUTE_MS,
    current,
    provider: view.kind === 'at_provider' ? view.provider : (approval?.provider ?? null),
    times: [approval?.isExact === true ? approval.atMs : null, arrivedAtMs, releasingAtMs],
  };
}
