import { larger, smaller } from '../../payment/money.ts';
import type { Payment, PaymentChange, PaymentId } from '../../payment/payment.ts';
import type { Decide, PaymentView } from '../../payment/payment-store.ts';
import { isOver, RETRY_AFTER_ABANDONED_MS, retryDelayMs } from '../../payment/release-schedule.ts';
import { refuseRelease, settle, sumObservations } from '../../payment/settle.ts';
import { type FeeQuote, type Relayer, SELF_TRANSFER_GAS, TransactionRefusedError } from '../chain/chain.ts';
import type { RelayAttempt, RelayBatch } from '../settlement-store.ts';
import { type BatchesInFlight, fillGap, unminedOf } from './nonces.ts';
import { bumpByPercent, raiseFees } from './raise-fees.ts';
import type { RelayContext, RelayPass } from './relay-context.ts';
import {
  broadcastOrShrink,
  costOf,
  feeBudgetOf,
  forgetBatch,
  isAboutFunds,
  isUnderpriced,
  replaceByDearer,
  replaceBySelfTransfer,
  replaceOverdue,
  replaceRefused,
  signAttempt,
  transactionOf,
} from './size-batch.ts';

/** Maximum nonce gap that is filled. A longer one means that the count, or the chain, was wrong. */
const MAXIMUM_FILLED = 16;

/** Minimum time as the next to be mined before a batch is overdue, because it may have waited behind other batches. */
const HEAD_PATIENCE_MS = 60_000;

/** Follows batches in flight by nonce. Throws `TransactionRefusedError` if no node accepts the first unmined one. */
export async function followBatches(context: RelayContext, inFlight: BatchesInFlight): Promise<RelayPass> {
  const { open, counts } = inFlight;
  const isResolved = (await resolveFinal(context, inFlight)).length > 0;
  const [head, ...followers] = unminedOf(open, counts);
  const idle = isResolved ? 'resolved' : 'waiting';
  if (head === undefined) return idle;
  if (head.nonce > counts.latest) return waitOutGap(context, [head, ...followers], counts.latest);
  context.memory.firstSeenMs.delete(head.id);
  const pass = await followHead(context, head, followers);
  return pass === 'rebroadcast' && isResolved ? 'resolved' : pass;
}

export async function resolveFinal(
  context: RelayContext,
  { open, counts }: BatchesInFlight,
): Promise<readonly RelayBatch[]> {
  const spent = open.filter(({ nonce }) => nonce < counts.final);
  for (const batch of spent) await resolveBatch(context, batch);
  return spent;
}

/**
 * Rebroadcasts the batch that is next to be mined, and raises its fees if the chain's fees exceed them. If the batch
 * is refused, unaffordable or not mined in time, a smaller batch or an empty transaction takes its nonce.
 */
async function followHead(
  context: RelayContext,
  head: RelayBatch,
  followers: readonly RelayBatch[],
): Promise<RelayPass> {
  const { relayer, limits } = context;
  const refusal = await rebroadcast(relayer, head);
  if (refusal === null) await rebroadcastMissing(context, followers);
  const othersWei = costOf(followers);
  const wasTaken = refusal === null || isUnderpriced(refusal);
  if (isOverdue(context, head)) {
    const replacement = await endOverdue(context, head, othersWei, { refusal, wasTaken });
    if (replacement !== null) {
      await broadcastOrShrink(context, replacement, othersWei);
      return 'replaced';
    }
  }
  const fees = await higherFees(context, head, wasTaken);
  if (refusal === null && fees === null) return 'rebroadcast';
  if (fees !== null) {
    const balanceWei = await relayer.readGasBalance();
    if (head.gasLimit * fees.maxFeePerGas <= feeBudgetOf(limits, balanceWei, othersWei)) {
      const transaction = await transactionOf(context, head);
      const attempt = await signAttempt(context, transaction, head.nonce, head.gasLimit, fees);
      await context.relay.addAttempt(head.id, attempt);
      await relayer.broadcast(attempt.rawTransaction);
      return 'bumped';
    }
  }
  const replacement =
    fees !== null
      ? await replaceByDearer(context, head, fees, othersWei)
      : await replaceRefused(context, head, refusal as TransactionRefusedError, othersWei);
  if (replacement !== null) {
    await broadcastOrShrink(context, replacement, othersWei);
    return 'replaced';
  }
  const last = followers.at(-1);
  // The last batch can only be mined after the first, so replacing it frees the gas balance that it reserves.
  if (fees !== null && last !== undefined && last.kind === 'forward') {
    const nowMs = context.nowMs();
    const dueNow: Decide = (view) => settle(view, { nowMs }, { releaseDueAtMs: nowMs });
    const spent = await replaceBySelfTransfer(context, last, aboveBoth(lastOf(last), fees), dueNow);
    await broadcastOrShrink(context, spent, 0n);
    return 'replaced';
  }
  if (refusal === null) return 'rebroadcast';
  throw refusal;
}

function isOverdue({ limits, memory, nowMs: clock }: RelayContext, head: RelayBatch): boolean {
  const nowMs = clock();
  const sinceMs = memory.headSinceMs.get(head.id);
  if (sinceMs === undefined) memory.headSinceMs.set(head.id, nowMs);
  return (
    sinceMs !== undefined &&
    isOver(sinceMs, HEAD_PATIENCE_MS, nowMs) &&
    isOver(head.createdAtMs, limits.minedPatienceMs, nowMs)
  );
}

/**
 * Replaces an overdue batch by `replaceOverdue`, or with an empty transaction. If fees cannot rise any further, uses
 * lower current fees, because perhaps only one node has accepted the batch. An empty transaction is replaced only if
 * its fees cannot rise. Returns null if no replacement could be mined.
 */
async function endOverdue(
  context: RelayContext,
  head: RelayBatch,
  othersWei: bigint,
  { refusal, wasTaken }: { readonly refusal: TransactionRefusedError | null; readonly wasTaken: boolean },
): Promise<RelayBatch | null> {
  const { relayer, limits } = context;
  const isEmpty = head.kind === 'self_transfer';
  const [quote, balanceWei] = await Promise.all([relayer.quoteFees(), relayer.readGasBalance()]);
  const isPayable = ({ maxFeePerGas }: FeeQuote) =>
    maxFeePerGas <= limits.maximumFeePerGas && SELF_TRANSFER_GAS * maxFeePerGas <= balanceWei;
  const last = lastOf(head);
  const raised = raiseFees({ ...head, quote, wasTaken, nowMs: Number.POSITIVE_INFINITY, limits });
  const dearer = isEmpty ? raised : aboveBoth(last, quote);
  const canRise = dearer !== null && isPayable(dearer);
  if (isEmpty && canRise) return null;
  const isBetter = quote.maxFeePerGas < last.maxFeePerGas || (!isEmpty && !wasTaken);
  const fees = wasTaken && canRise ? dearer : isBetter && isPayable(quote) ? quote : null;
  if (fees === null) {
    // Restarts the wait, because fees or the balance may allow a replacement later.
    context.memory.headSinceMs.delete(head.id);
    return null;
  }
  const bounds = { fees, budgetWei: feeBudgetOf(limits, balanceWei, othersWei) };
  const smallerBatch = await replaceOverdue(context, head, bounds);
  if (smallerBatch !== null) return smallerBatch;
  const isAgainstRelease = head.paymentIds.length === 1 && refusal !== null && !isAboutFunds(refusal);
  const nowMs = context.nowMs();
  return replaceBySelfTransfer(context, head, fees, (view) =>
    isAgainstRelease
      ? refuseRelease(view, { nowMs }, refusal.message)
      : settle(view, { nowMs }, afterNoOpBatch(view.payment, nowMs)),
  );
}

/** Returns the newest attempt of a batch, which is the most expensive one. */
function lastOf({ attempts }: RelayBatch): RelayAttempt {
  return attempts.at(-1) as RelayAttempt;
}

/** Returns fees that are high enough to replace an attempt, and at least those of a quote. */
function aboveBoth(last: FeeQuote, quote: FeeQuote): FeeQuote {
  const maxFeePerGas = larger(quote.maxFeePerGas, bumpByPercent(last.maxFeePerGas));
  const tip = larger(quote.maxPriorityFeePerGas, bumpByPercent(last.maxPriorityFeePerGas));
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) };
}

/** Rebroadcasts later batches that a node's pool lacks, because a broadcast was lost or the node restarted. */
async function rebroadcastMissing(context: RelayContext, followers: readonly RelayBatch[]): Promise<void> {
  if (followers.length === 0) return;
  const pending = await context.relayer.readPendingTransactionCount();
  if (pending === null) return;
  for (const batch of followers) if (batch.nonce >= pending) await rebroadcast(context.relayer, batch);
}

/** Fills missing nonces, which block later batches, with self-transfers. Abandons batches if too many are missing. */
async function waitOutGap(
  context: RelayContext,
  unmined: readonly RelayBatch[],
  latest: number,
): Promise<RelayPass> {
  const { limits, memory } = context;
  const head = unmined[0] as RelayBatch;
  const nowMs = context.nowMs();
  // The wait starts when the gap is first seen, because a node that lags briefly may report one before an old batch.
  const firstSeenMs = memory.firstSeenMs.get(head.id);
  if (firstSeenMs === undefined) memory.firstSeenMs.set(head.id, nowMs);
  if (firstSeenMs === undefined || !isOver(firstSeenMs, limits.nonceGapPatienceMs, nowMs)) return 'waiting';
  if (head.nonce - latest <= MAXIMUM_FILLED) {
    await fillGap(context, latest, head.nonce);
    return 'filled';
  }
  for (const batch of unmined.toReversed()) await abandonBatch(context, batch);
  return 'abandoned';
}

async function higherFees(
  context: RelayContext,
  batch: RelayBatch,
  wasTaken: boolean,
): Promise<FeeQuote | null> {
  const { relayer, limits } = context;
  const nowMs = context.nowMs();
  const last = lastOf(batch);
  if (!isOver(last.signedAtMs, limits.bumpAfterMs, nowMs)) return null;
  const quote = await relayer.quoteFees();
  return raiseFees({ ...batch, quote, wasTaken, nowMs, limits });
}

/**
 * Rebroadcasts every attempt, because an earlier one can still be mined if the balance is too low for a later one.
 * Returns the most expensive one's refusal; null if a node has any. Throws `ChainUnavailableError` if none answers.
 */
export async function rebroadcast(
  relayer: Pick<Relayer, 'broadcast'>,
  batch: Pick<RelayBatch, 'attempts'>,
): Promise<TransactionRefusedError | null> {
  let wasTaken = false;
  let refusal: TransactionRefusedError | null = null;
  for (const attempt of batch.attempts.toReversed()) {
    try {
      await relayer.broadcast(attempt.rawTransaction);
      wasTaken = true;
    } catch (error) {
      // A node that has a more expensive attempt refuses the cheaper one, as expected.
      if (!(error instanceof TransactionRefusedError)) throw error;
      refusal ??= error;
    }
  }
  return wasTaken ? null : refusal;
}

/** Closes a batch whose nonce is final, once the watcher has seen the effects of its transaction. */
async function resolveBatch(context: RelayContext, batch: RelayBatch): Promise<void> {
  const nowMs = context.nowMs();
  const isMined =
    batch.kind !== 'forward' || (await context.relayer.isAnyMined(batch.attempts.map(({ hash }) => hash)));
  const unreleased = new Set<PaymentId>();
  await closeBatch(context, batch, 'resolved', ({ payment, observations }) => {
    const isReleased = observations.releases.some(({ transactionHash }) =>
      batch.attempts.some(({ hash }) => hash === transactionHash),
    );
    // If money remains after a release, it arrived later, or another caller released the earlier money. It is due now.
    if (isReleased || sumObservations(observations).heldUnits === 0n) {
      return { noOpBatches: 0, releaseDueAtMs: null };
    }
    unreleased.add(payment.id);
    // Another transaction took the nonce, so no gas was spent, and the payment is not at fault.
    if (!isMined) return { releaseDueAtMs: nowMs + RETRY_AFTER_ABANDONED_MS };
    return afterNoOpBatch(payment, nowMs);
  });
  if (unreleased.size > 0) {
    const kind = isMined ? 'no_op_batch' : 'displaced_batch';
    context.onIncident({ kind, batchId: batch.id, paymentIds: [...unreleased] });
  }
}

/** Abandons a batch that will not be mined. If it is mined after all, it cannot move money released in the meantime. */
export async function abandonBatch(context: RelayContext, batch: RelayBatch): Promise<void> {
  const releaseDueAtMs = context.nowMs() + RETRY_AFTER_ABANDONED_MS;
  await closeBatch(context, batch, 'abandoned', () => ({ releaseDueAtMs }));
}

/** Delays the next release after gas was spent without one for unknown reasons. The delay grows to limit the gas. */
function afterNoOpBatch(payment: Payment, nowMs: number): PaymentChange {
  const noOpBatches = payment.noOpBatches + 1;
  return { noOpBatches, releaseDueAtMs: nowMs + retryDelayMs(noOpBatches) };
}

async function closeBatch(
  context: RelayContext,
  batch: RelayBatch,
  outcome: 'resolved' | 'abandoned',
  changeOf: (view: PaymentView) => PaymentChange,
): Promise<void> {
  const nowMs = context.nowMs();
  // A rescue is not a release, so its payment stays unchanged.
  const decide: Decide = (view) => settle(view, { nowMs }, batch.kind === 'forward' ? changeOf(view) : {});
  await context.relay.closeBatch(batch.id, outcome, nowMs, decide);
  forgetBatch(context.memory, batch.id);
}
