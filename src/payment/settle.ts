import { UnknownStateError } from './errors.ts';
import { amountMismatchOf, isDust } from './fees-and-paid-threshold.ts';
import { larger } from './money.ts';
import {
  type ChainObservations,
  type Deposit,
  isDirect,
  type Payment,
  type PaymentChange,
} from './payment.ts';
import { forwardedWebhook, type NewWebhook, paidWebhook } from './payment-events.ts';
import {
  fieldsOf,
  nextState,
  type PaymentEvent,
  type PaymentState,
  paymentStates,
  stateOf,
} from './payment-states.ts';
import type { PaymentDecision, PaymentView } from './payment-store.ts';
import { mayRelease, retryDelayMs } from './release-schedule.ts';

/** Consecutive refused simulations of a release after which the payment needs attention. */
export const QUICK_RELEASE_TRIES = 3;

/** Maximum transitions in one decision, which visits each state at most once. */
const MAXIMUM_STEPS = Object.keys(paymentStates).length;

export interface SettleContext {
  readonly nowMs: number;
  /** Payments created before this time have expired, even by the time of final blocks. Set only by the expiry step. */
  readonly expiredBeforeMs?: number | undefined;
}

type ObservedSums = ReturnType<typeof sumObservations>;

/** Returns sums in 10⁻⁶ USDC units. `heldUnits` are still at the deposit address. */
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
 * Derives a payment's state from its observations. This pure function is the only code that changes states. The result
 * includes `change`, the caller's own changes. Returns null if nothing changes.
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
    // Prevents an endless loop over contradictory facts.
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

  const isChanged = (field: string, value: unknown) => view.payment[field as keyof Payment] !== value;
  const changed = Object.entries(payment).filter(([field, value]) => isChanged(field, value));
  if (changed.length === 0) return null;
  const becamePaid = webhooks.some(({ event }) => event === 'payment.paid');
  const dueBefore = webhooks.map(({ event }) => event).filter(wasDueBefore(view, payment));
  return {
    change: Object.fromEntries(changed),
    ...(webhooks.length > 0 ? { webhooks } : {}),
    ...(dueBefore.length > 0 ? { dueBefore } : {}),
    ...(becamePaid && payment.email !== null ? { receipt: true } : {}),
    ...(fellBack ? { revisitExpiry: true } : {}),
  };
}

/** Returns a function that tells whether blocks from before a restore already made an event due. */
function wasDueBefore({ observations, payment: before }: PaymentView, payment: Payment) {
  const { finalBlock, restoredBlock } = observations;
  if (restoredBlock === undefined) return () => false;
  const sums = sumObservations({ ...observations, finalBlock: Math.min(finalBlock, restoredBlock) });
  return (event: NewWebhook['event']) => {
    const isOfDeposits = isDirect(payment) && event === 'payment.paid';
    const wasSeen = isOfDeposits && sums.finalSeenUnits >= before.paidThresholdUnits;
    const neededUnits = before.status === 'paid' ? before.receivedUnits : payment.paidThresholdUnits;
    return wasSeen || sums.finalReleasedUnits >= neededUnits;
  };
}

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

/** Returns the event that the observations require in this state; null if the state agrees with them. */
function dueEvent(payment: Payment, sums: ObservedSums, context: SettleContext): PaymentEvent | null {
  const state = stateOf(payment);
  switch (payment.status) {
    case 'unpaid':
      return dueEventOfUnpaid(state, payment, sums, context);
    case 'canceled':
      return dueEventOfCanceled(state, payment, sums);
    case 'paid':
      // A surplus is released and recorded as observations, but changes no field of the payment.
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
  // Waits for finality before any release or webhook, because a reorganization may still remove the deposit.
  if (isDirect(payment)) return sums.finalSeenUnits >= payment.paidThresholdUnits ? 'deposit_final' : null;
  // Waits for the deposit, too, because a node may show the release first and the payment needs the deposit's hash.
  const isSettled =
    sums.finalReleasedUnits >= payment.paidThresholdUnits &&
    sums.finalSeenUnits >= payment.paidThresholdUnits;
  if (isSettled) return 'released_finally';

  if (state === 'unpaid/pending') return 'threshold_reached';
  return dueEventOfRelease(payment, sums.releasedUnits >= payment.paidThresholdUnits);
}

/** Returns the due event of a paid direct payment, which completes once its received amount is released. */
function dueEventOfForwarding(payment: Payment, sums: ObservedSums): PaymentEvent | null {
  if (sums.finalReleasedUnits >= payment.receivedUnits) return 'released_finally';
  return dueEventOfRelease(payment, sums.releasedUnits >= payment.receivedUnits);
}

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
      // Ignores dust that arrives after the release, because it must not keep the payment from completing.
      const isReleased =
        !isDust(payment, finalReleasedUnits) && isDust(payment, seenUnits - finalReleasedUnits);
      return isReleased ? 'released_finally' : null;
    }
    case 'canceled/completed': {
      // Counts money from further deposits, or from a release that a reorganization removed without its deposit.
      const furtherUnits = larger(heldUnits, seenUnits - payment.receivedUnits);
      return isDust(payment, furtherUnits) ? null : 'deposit_after_cancel';
    }
    default:
      return null;
  }
}

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
        // Keeps the hash of the deposit that made a direct payment paid.
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
      // Clears the request along with its deposit, so that the request does not apply to money after a cancellation.
      return payment.status === 'unpaid' ? { ...noRefusals, releaseRequested: false } : noRefusals;
    }
    default:
      return {};
  }
}

/** Returns the display fields. Until a payment is paid or released, these show what the current chain contains. */
function seenSoFar(
  payment: Payment,
  { deposits }: ChainObservations,
  { seenUnits }: ObservedSums,
): PaymentChange {
  const amountMismatch = amountMismatchOf(payment, deposits);
  // Once a canceled payment has been released, keeps the released amounts until the next release.
  const isCounted = payment.status === 'paid' || payment.txidOut !== null;
  if (isCounted) return { amountMismatch };
  return { amountMismatch, receivedUnits: seenUnits, txidIn: decisiveTxid(payment, deposits) };
}

/** Returns the hash of the deposit that reached the paid threshold; of the last one if none did or if canceled. */
function decisiveTxid(payment: Payment, deposits: readonly Deposit[]): string | null {
  let units = 0n;
  for (const deposit of deposits) {
    units += deposit.units;
    if (payment.status === 'unpaid' && units >= payment.paidThresholdUnits) return deposit.transactionHash;
  }
  return deposits.at(-1)?.transactionHash ?? null;
}

/** Returns when to attempt the next release; no time if no money is held or it must not be released yet. */
function releasePlan(payment: Payment, sums: ObservedSums, context: SettleContext): PaymentChange {
  if (sums.heldUnits === 0n) {
    // Keeps a request until the release is final, so that the request covers all deposits.
    const releaseRequested = payment.forwardStatus !== 'completed' && payment.releaseRequested;
    return { releaseDueAtMs: null, noOpBatches: 0, releaseRequested };
  }
  const isDue = payment.relayBatchId === null && mayRelease(payment, sums.heldUnits);
  return { releaseDueAtMs: isDue ? (payment.releaseDueAtMs ?? context.nowMs) : null };
}

/**
 * Settles a payment after a scan. Unlike `settle`, makes the expiry step revisit a payment that still awaits money. The
 * step may have passed the payment while a deposit was not final, or was seen and later removed.
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
