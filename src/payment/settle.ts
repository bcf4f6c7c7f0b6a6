import { UnknownStateError } from './errors.ts';
import { larger } from './money.ts';
import { amountMismatchOf, isDust } from './paid-threshold.ts';
import {
  type ChainObservations,
  type Deposit,
  fieldsOf,
  isDirect,
  nextState,
  type Payment,
  type PaymentChange,
  type PaymentEvent,
  type PaymentState,
  paymentStates,
  stateOf,
} from './payment.ts';
import { forwardedWebhook, type NewWebhook, paidWebhook } from './payment-events.ts';
import type { PaymentDecision, PaymentView } from './payment-store.ts';

/** Refused simulations in a row after which the payment needs attention. */
export const QUICK_RELEASE_TRIES = 3;

/** No decision leads through more states than there are. */
const MAXIMUM_STEPS = Object.keys(paymentStates).length;

/**
 * A surplus below this (0.10 USDC) is released on request only. Gas for one release alone costs up to a few cents, and
 * a sender of single units to a paid payment's address must not be able to spend the relayer's gas.
 */
export const MINIMUM_SURPLUS_UNITS = 100_000n;

export interface SettleContext {
  readonly nowMs: number;
  /**
   * Payments created before this moment are past their deadline, and every block up to a final one later than the
   * deadline has been scanned. Absent everywhere except in the expiry step: nothing else expires a payment.
   */
  readonly expiredBeforeMs?: number | undefined;
}

type ObservedSums = ReturnType<typeof sumObservations>;

/** The sums that all decisions rest on, in 10⁻⁶ units; `heldUnits` are still at the deposit address. */
export function sumObservations(observations: ChainObservations) {
  let seenUnits = 0n;
  let finalSeenUnits = 0n;
  let releasedUnits = 0n;
  let finalReleasedUnits = 0n;
  let finalToMerchantUnits = 0n;
  for (const deposit of observations.deposits) {
    seenUnits += deposit.units;
    if (deposit.blockNumber <= observations.finalBlock) finalSeenUnits += deposit.units;
  }
  for (const release of observations.releases) {
    const units = release.toMerchantUnits + release.feeUnits;
    releasedUnits += units;
    if (release.blockNumber > observations.finalBlock) continue;
    finalReleasedUnits += units;
    finalToMerchantUnits += release.toMerchantUnits;
  }
  const heldUnits = seenUnits > releasedUnits ? seenUnits - releasedUnits : 0n;
  return { seenUnits, finalSeenUnits, releasedUnits, finalReleasedUnits, finalToMerchantUnits, heldUnits };
}

/**
 * Decides what a payment's observations make of it: the one place where states change. Pure. `change` is what the caller
 * already knows to have changed (a batch was opened, a release was refused) and is part of the result.
 * Returns null when there is nothing to write.
 */
export function settle(
  view: PaymentView,
  context: SettleContext,
  change: PaymentChange = {},
): PaymentDecision | null {
  const sums = sumObservations(view.observations);
  let payment: Payment = { ...view.payment, ...change };
  const webhooks: NewWebhook[] = [];
  let fellBack = false;

  let steps = 0;
  for (
    let event = dueEvent(payment, sums, context);
    event !== null;
    event = dueEvent(payment, sums, context)
  ) {
    // Facts that call for one state and then for another again would hold up the whole process.
    if (++steps > MAXIMUM_STEPS) throw new UnknownStateError(`${payment.id} does not come to rest`);
    const effects = effectsOf(event, payment, view.observations, sums, context);
    const { status: before } = payment;
    payment = { ...payment, ...fieldsOf(nextState(stateOf(payment), event)), ...effects };
    if (payment.status === 'paid' && before !== 'paid') webhooks.push(paidWebhook(payment));
    if (payment.status === 'paid' && isDirect(payment) && event === 'released_finally') {
      webhooks.push(forwardedWebhook(payment));
    }
    if (event === 'deposit_reverted' && payment.status === 'unpaid') fellBack = true;
  }
  payment = {
    ...payment,
    ...seenSoFar(payment, view.observations, sums),
    ...releasePlan(payment, sums, context),
  };

  const difference = differenceOf(view.payment, payment);
  if (difference === null) return null;
  const becamePaid = webhooks.some(({ event }) => event === 'payment.paid');
  return {
    change: difference,
    ...(webhooks.length > 0 ? { webhooks } : {}),
    ...(becamePaid && payment.email !== null ? { receipt: true } : {}),
    ...(fellBack ? { revisitExpiry: true } : {}),
  };
}

/** The decision after our own simulation of the release was refused. */
export function refuseRelease(
  view: PaymentView,
  context: SettleContext,
  reason: string,
): PaymentDecision | null {
  const refusals = view.payment.releaseRefusals + 1;
  return settle(view, context, {
    releaseRefusals: refusals,
    releaseRefusalReason: reason,
    releaseDueAtMs: context.nowMs + retryDelayMs(refusals),
  });
}

/** The event that the facts call for in this state, or null when the state agrees with them. */
function dueEvent(payment: Payment, sums: ObservedSums, context: SettleContext): PaymentEvent | null {
  const state = stateOf(payment);
  switch (payment.status) {
    case 'unpaid':
      return dueEventOfUnpaid(state, payment, sums, context);
    case 'canceled':
      return dueEventOfCanceled(state, payment, sums);
    case 'paid':
      // Surplus is released and kept among the observations; the fields stay as they were.
      return payment.forwardStatus === 'completed' ? null : dueEventOfForwarding(payment, sums);
  }
}

function dueEventOfUnpaid(
  state: PaymentState,
  payment: Payment,
  sums: ObservedSums,
  context: SettleContext,
): PaymentEvent | null {
  if (sums.seenUnits < payment.paidThresholdUnits) {
    if (state !== 'unpaid/pending') return 'deposit_reverted';
    const isExpired = context.expiredBeforeMs !== undefined && payment.createdAtMs < context.expiredBeforeMs;
    if (!isExpired) return null;
    return isDust(payment, sums.seenUnits) ? 'expired_empty' : 'expired_underpaid';
  }
  // Nothing is sent on, and nothing said, before the deposit is final: the customer's wallet may still take it back.
  if (isDirect(payment)) return sums.finalSeenUnits >= payment.paidThresholdUnits ? 'deposit_final' : null;
  // A release can be final whose deposit no node has shown: the payment would name none, or one that may still go.
  const isSettled =
    sums.finalReleasedUnits >= payment.paidThresholdUnits &&
    sums.finalSeenUnits >= payment.paidThresholdUnits;
  if (isSettled) return 'released_finally';

  if (state === 'unpaid/pending') return 'threshold_reached';
  return dueEventOfRelease(payment, sums.releasedUnits >= payment.paidThresholdUnits);
}

/** The event of a paid direct payment: all that was received then has to reach the merchant. */
function dueEventOfForwarding(payment: Payment, sums: ObservedSums): PaymentEvent | null {
  if (sums.finalReleasedUnits >= payment.receivedUnits) return 'released_finally';
  return dueEventOfRelease(payment, sums.releasedUnits >= payment.receivedUnits);
}

/** The event that the progress of the release calls for. */
function dueEventOfRelease(payment: Payment, isReleased: boolean): PaymentEvent | null {
  const isReleasing = payment.relayBatchId !== null || isReleased;
  switch (payment.forwardStatus) {
    case 'processing':
      return isReleasing ? null : 'release_dropped';
    case 'ready':
      if (isReleasing) return 'release_sent';
      return payment.releaseRefusals > 0 ? 'release_refused' : null;
    case 'failed':
      if (isReleasing) return 'release_sent';
      if (payment.releaseRefusals === 0) return 'release_possible';
      return payment.releaseRefusals >= QUICK_RELEASE_TRIES ? 'release_abandoned' : null;
    case 'manual_required':
      if (isReleasing) return 'release_sent';
      return payment.releaseRefusals === 0 ? 'release_possible' : null;
    default:
      return null;
  }
}

function dueEventOfCanceled(state: PaymentState, payment: Payment, sums: ObservedSums): PaymentEvent | null {
  const { seenUnits, heldUnits, finalReleasedUnits } = sums;
  switch (state) {
    case 'canceled/canceled':
      return isDust(payment, seenUnits) ? null : 'deposit_after_cancel';
    case 'canceled/manual_required': {
      if (isDust(payment, seenUnits)) return 'deposit_reverted';
      // A unit that arrives after the release must not keep the payment from being completed.
      const isReleased =
        !isDust(payment, finalReleasedUnits) && isDust(payment, seenUnits - finalReleasedUnits);
      return isReleased ? 'released_finally' : null;
    }
    case 'canceled/completed': {
      // Held again: a further deposit, or a reorganization took the release and left its deposit.
      const furtherUnits = larger(heldUnits, seenUnits - payment.receivedUnits);
      return isDust(payment, furtherUnits) ? null : 'deposit_after_cancel';
    }
    default:
      return null;
  }
}

/** The other fields that the event writes. */
function effectsOf(
  event: PaymentEvent,
  payment: Payment,
  observations: ChainObservations,
  sums: ObservedSums,
  context: SettleContext,
): PaymentChange {
  switch (event) {
    case 'deposit_final':
      return {
        receivedUnits: sums.finalSeenUnits,
        txidIn: decisiveTxid(payment, observations.deposits),
        paidAtMs: context.nowMs,
      };
    case 'released_finally': {
      const finalReleases = observations.releases.filter(
        (release) => release.blockNumber <= observations.finalBlock,
      );
      const amounts: PaymentChange = {
        receivedUnits: sums.finalReleasedUnits,
        forwardedUnits: sums.finalToMerchantUnits,
        // The hashes that a payment named when it became paid stay.
        txidIn: payment.status === 'paid' ? payment.txidIn : decisiveTxid(payment, observations.deposits),
        txidOut: finalReleases.at(-1)?.transactionHash ?? null,
        releaseRequested: false,
      };
      return payment.status === 'unpaid' ? { ...amounts, paidAtMs: context.nowMs } : amounts;
    }
    case 'expired_empty':
    case 'expired_underpaid':
      return { cancelReason: 'expired' };
    case 'deposit_reverted': {
      const noRefusals: PaymentChange = { releaseRefusals: 0, releaseRefusalReason: null };
      // What was requested is gone: if the payment is canceled later, its merchant decides about other money.
      return payment.status === 'unpaid' ? { ...noRefusals, releaseRequested: false } : noRefusals;
    }
    default:
      return {};
  }
}

/** The displayed amounts while the money is not counted yet: the units seen on the chain as it is known now. */
function seenSoFar(
  payment: Payment,
  { deposits }: ChainObservations,
  { seenUnits }: ObservedSums,
): PaymentChange {
  const amountMismatch = amountMismatchOf(payment, deposits);
  // What was released after cancellation stays until more is released.
  const isCounted = payment.status === 'paid' || payment.txidOut !== null;
  if (isCounted) return { amountMismatch };
  return { amountMismatch, receivedUnits: seenUnits, txidIn: decisiveTxid(payment, deposits) };
}

/** The deposit that reached the paid threshold; of a canceled payment, which may never have reached it, the last one. */
function decisiveTxid(payment: Payment, deposits: readonly Deposit[]): string | null {
  let units = 0n;
  for (const deposit of deposits) {
    units += deposit.units;
    if (payment.status === 'unpaid' && units >= payment.paidThresholdUnits) return deposit.transactionHash;
  }
  return deposits.at(-1)?.transactionHash ?? null;
}

/** Time of the sender's next try: null when nothing is held, or the held units may not be released yet. */
function releasePlan(payment: Payment, sums: ObservedSums, context: SettleContext): PaymentChange {
  if (sums.heldUnits === 0n) {
    // A request stays until the release is final; then it was about all that had arrived.
    const releaseRequested = payment.forwardStatus !== 'completed' && payment.releaseRequested;
    return { releaseDueAtMs: null, noOpBatches: 0, releaseRequested };
  }
  const isDue = payment.relayBatchId === null && mayRelease(payment, sums.heldUnits);
  return { releaseDueAtMs: isDue ? (payment.releaseDueAtMs ?? context.nowMs) : null };
}

function mayRelease(payment: Payment, heldUnits: bigint): boolean {
  switch (payment.status) {
    case 'unpaid':
      return payment.forwardStatus !== 'pending'; // Underpaid: further deposits may still add up.
    case 'paid':
      return (
        payment.forwardStatus !== 'completed' ||
        heldUnits >= MINIMUM_SURPLUS_UNITS ||
        payment.releaseRequested
      );
    case 'canceled':
      return payment.releaseRequested;
  }
}

/** The fields in which two versions of a payment differ, or null when they are the same. */
function differenceOf(before: Payment, after: Payment): PaymentChange | null {
  const changed = Object.entries(after).filter(([field, value]) => before[field as keyof Payment] !== value);
  return changed.length === 0 ? null : Object.fromEntries(changed);
}

/**
 * The decision after the chain was read. As `settle`, and it brings a payment that waits for money back to the expiry step,
 * which may have passed it: while a direct payment's deposit was seen and not final yet, or while the address held money
 * that the logs had not shown. Nothing in the state of such a payment shows it.
 */
export function settleScanned(
  view: PaymentView,
  { nowMs }: Pick<SettleContext, 'nowMs'>,
): PaymentDecision | null {
  const decision = settle(view, { nowMs });
  const payment = { ...view.payment, ...decision?.change };
  const { seenUnits } = sumObservations(view.observations);
  const isWaiting = stateOf(payment) === 'unpaid/pending' && seenUnits < payment.paidThresholdUnits;
  const mayHaveBeenPassed = isWaiting && (isDirect(payment) || seenUnits > 0n);
  return mayHaveBeenPassed ? { change: {}, ...decision, revisitExpiry: true } : decision;
}

/** The sender's waits after the first, second, … try in a row that released nothing; the last one repeats. */
const delaysMs = [30_000, 120_000, 600_000, 3_600_000] as const;

/** Wait after a simulation that found nothing at the address: the watcher will see why. */
export const RETRY_AFTER_EMPTY_MS = 5_000;

/** Wait after a batch that was abandoned before it was mined: no fault of its payments. */
export const RETRY_AFTER_ABANDONED_MS = 10_000;

/** No due time of a payment without a failed try is further ahead: one that is was written before the clock went back. */
export const LONGEST_FIRST_DELAY_MS = 60_000;

/** The longest wait of any payment. */
export const LONGEST_DELAY_MS = delaysMs[3];

/** The wait after this many tries in a row that released nothing, at least one. */
export function retryDelayMs(tries: number): number {
  return delaysMs[Math.min(tries, delaysMs.length) - 1] as number;
}

/**
 * Whether a wait of the sender is over. One that begins in the future is over as well: the clock was set back, and nothing
 * may stand still until it has caught up.
 */
export function isOver(sinceMs: number, waitMs: number, nowMs: number): boolean {
  return nowMs < sinceMs || nowMs - sinceMs >= waitMs;
}
