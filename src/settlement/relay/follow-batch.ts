import { larger, smaller } from '../../payment/money.ts';
import type { Payment, PaymentChange, PaymentId } from '../../payment/payment.ts';
import type { Decide, PaymentView } from '../../payment/payment-store.ts';
import {
  isOver,
  RETRY_AFTER_ABANDONED_MS,
  refuseRelease,
  retryDelayMs,
  settle,
  sumObservations,
} from '../../payment/settle.ts';
import { type FeeQuote, type Relayer, SELF_TRANSFER_GAS, TransactionRefusedError } from '../chain/chain.ts';
import type { RelayAttempt, RelayBatch } from '../settlement-store.ts';
import { type BatchesInFlight, fillGap, unminedOf } from './nonces.ts';
import { forgetBatch, type RelayContext, type RelayLimits, type RelayPass } from './relay-context.ts';
import {
  broadcastOrShrink,
  costOf,
  feeBudgetOf,
  ignoreRefusal,
  isAboutFunds,
  isUnderpriced,
  replaceByDearer,
  replaceBySelfTransfer,
  replaceOverdue,
  replaceRefused,
  signAttempt,
  transactionOf,
} from './size-batch.ts';

/** Gaps up to this many nonces are filled; a longer one says that the count, or the chain, was not ours. */
const MAXIMUM_FILLED = 16;

/** A batch may have waited for long behind others: it is given this time from when it is the next to be mined. */
const HEAD_PATIENCE_MS = 60_000;

/**
 * Follows all that is in flight, in the order of its nonces: closes what is final, and rebroadcasts, bumps or replaces
 * the first that is not mined. What is behind it can only be mined after it. Throws `TransactionRefusedError` when no
 * node takes any attempt of that first one, and nothing can be changed about that yet.
 */
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

/** Closes the batches whose nonces are final, and returns them. */
export async function resolveFinal(
  context: RelayContext,
  { open, counts }: BatchesInFlight,
): Promise<readonly RelayBatch[]> {
  const spent = open.filter(({ nonce }) => nonce < counts.final);
  for (const batch of spent) await resolveBatch(context, batch);
  return spent;
}

/**
 * Broadcasts the batch again that is to be mined next, and raises its fees while the chain asks for more. A smaller one
 * takes its nonce where every node refuses it, where higher fees cannot be paid for all of it, and where it is not mined
 * in time, for whatever reason; in the end an empty transaction does. What is left out is sent with another nonce.
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
      await raise(context, head, fees);
      await raiseFollowers(context, followers, fees, balanceWei - head.gasLimit * fees.maxFeePerGas);
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
  // Nothing behind the first can be mined before it: the last one gives back the gas balance that it has reserved.
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

/** Whether the batch that is to be mined next has not been for so long that its nonce goes to another one. */
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
 * Replaces a batch that is not mined in time: by one with other numbers and at most half of its payments, or by an empty
 * transaction. What is as dear as maximum or balance allow makes way for one at the present fees, where these are lower: it
 * may have been too dear for all nodes but one that dropped it. An empty transaction is replaced only then. Null where
 * nothing could be mined, as fees above the maximum or POL for gas are needed.
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
    // Once that is over, it is given its time anew.
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

/** The newest attempt of a batch, which is the dearest. */
function lastOf({ attempts }: RelayBatch): RelayAttempt {
  return attempts.at(-1) as RelayAttempt;
}

/** Signs the same transaction for the same nonce at higher fees, commits and broadcasts it. */
async function raise(context: RelayContext, batch: RelayBatch, fees: FeeQuote): Promise<void> {
  const transaction = await transactionOf(context, batch);
  const attempt = await signAttempt(context, transaction, batch.nonce, batch.gasLimit, fees);
  await context.relay.addAttempt(batch.id, attempt);
  await context.relayer.broadcast(attempt.rawTransaction);
}

/**
 * Raises what is behind a bumped batch to its fees, as far as balance and limits allow: it would be too cheap for the
 * same blocks. What they do not allow is replaced once it is the first.
 */
async function raiseFollowers(
  context: RelayContext,
  followers: readonly RelayBatch[],
  headFees: FeeQuote,
  balanceWei: bigint,
): Promise<void> {
  const { limits } = context;
  let freeWei = balanceWei - costOf(followers);
  for (const batch of followers) {
    const last = lastOf(batch);
    if (last.maxFeePerGas >= headFees.maxFeePerGas) continue;
    const fees = aboveBoth(last, headFees);
    const costWei = batch.gasLimit * fees.maxFeePerGas;
    const moreWei = costWei - batch.gasLimit * last.maxFeePerGas;
    const isAllowed =
      fees.maxFeePerGas <= limits.maximumFeePerGas && costWei <= limits.maximumTransactionFeeWei;
    if (!isAllowed || moreWei > freeWei) continue;
    freeWei -= moreWei;
    await raise(context, batch, fees).catch(ignoreRefusal);
  }
}

/** The fees that replace an attempt and are not below a quote. */
function aboveBoth(last: FeeQuote, quote: FeeQuote): FeeQuote {
  const maxFeePerGas = larger(quote.maxFeePerGas, bumpByPercent(last.maxFeePerGas));
  const tip = larger(quote.maxPriorityFeePerGas, bumpByPercent(last.maxPriorityFeePerGas));
  return { maxFeePerGas, maxPriorityFeePerGas: smaller(tip, maxFeePerGas) };
}

/** Hands to the chain what a node's pool lacks, behind the first: a broadcast may be lost, or a node restarted. */
async function rebroadcastMissing(context: RelayContext, followers: readonly RelayBatch[]): Promise<void> {
  if (followers.length === 0) return;
  const pending = await context.relayer.readPendingTransactionCount();
  if (pending === null) return;
  for (const batch of followers) if (batch.nonce >= pending) await rebroadcast(context.relayer, batch);
}

/**
 * Transactions before ours are missing on the chain: ours cannot be mined before theirs. Perhaps the chain lost blocks,
 * or the count was wrong when the nonce was chosen. After a while each missing nonce is spent by a transfer to the
 * relayer itself; where there are too many, all batches are abandoned and their payments sent anew.
 */
async function waitOutGap(
  context: RelayContext,
  unmined: readonly RelayBatch[],
  latest: number,
): Promise<RelayPass> {
  const { limits, memory } = context;
  const head = unmined[0] as RelayBatch;
  const nowMs = context.nowMs();
  // From when it was first seen: a node that lags for a moment shows a gap before a batch of any age.
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
 * Hands every attempt of a batch to the chain again, the dearest first: should it be too dear for the gas balance that is
 * left, an earlier one can still be mined. Returns null when a node has one of them now, else why the dearest was
 * refused. Throws `ChainUnavailableError` when no node answers.
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
      // A node that has a dearer one refuses the cheaper, which is as it should be.
      if (!(error instanceof TransactionRefusedError)) throw error;
      refusal ??= error;
    }
  }
  return wasTaken ? null : refusal;
}

/** The facts on which a decision about higher fees rests. */
export interface FeeSituation {
  /** All that were signed with this nonce, the last one being the dearest. At least one. */
  readonly attempts: readonly RelayAttempt[];
  /** The current quote of the chain. */
  readonly quote: FeeQuote;
  /** Whether a node has the transaction, or asks for a better price: any other refusal has nothing to do with it. */
  readonly wasTaken: boolean;
  readonly nowMs: number;
  readonly limits: Pick<RelayLimits, 'bumpAfterMs' | 'maximumFeePerGas'>;
}

/** Tips are never raised above so many times what is usual now: more buys nothing, and a mistake would be dear. */
const MAXIMUM_TIP_MULTIPLE = 4n;

/** An attempt that is not below the quote gets so many times the usual wait, doubled with each attempt… */
const WAIT_FACTOR = 8;
/** …up to this many doublings. */
const MAXIMUM_DOUBLINGS = 6;

/**
 * The fees for another attempt, or null to leave things as they are. They rise when the latest quote exceeds the last
 * attempt's, or when a node has had it for long although it does not. Both fees rise by an eighth at least (nodes
 * replace for a tenth), and never above what limits and tip multiple allow. Whether the relayer can pay them is for the
 * caller to decide. Pure.
 */
export function raiseFees(situation: FeeSituation): FeeQuote | null {
  const { attempts, quote, limits, nowMs } = situation;
  const last = attempts.at(-1) as RelayAttempt;
  const isBelowQuote =
    quote.maxFeePerGas > last.maxFeePerGas || quote.maxPriorityFeePerGas > last.maxPriorityFeePerGas;
  if (!isBelowQuote && !situation.wasTaken) return null;
  const waitMs = isBelowQuote ? limits.bumpAfterMs : patienceMs(attempts.length, limits.bumpAfterMs);
  if (!isOver(last.signedAtMs, waitMs, nowMs)) return null;

  const maxFeePerGas = smaller(
    larger(quote.maxFeePerGas, addQuarter(last.maxFeePerGas)),
    limits.maximumFeePerGas,
  );
  const maxPriorityFeePerGas = smaller(
    larger(quote.maxPriorityFeePerGas, bumpByPercent(last.maxPriorityFeePerGas)),
    smaller(quote.maxPriorityFeePerGas * MAXIMUM_TIP_MULTIPLE, maxFeePerGas),
  );
  const isReplacement =
    maxFeePerGas >= bumpByPercent(last.maxFeePerGas) &&
    maxPriorityFeePerGas >= bumpByPercent(last.maxPriorityFeePerGas);
  return isReplacement ? { maxFeePerGas, maxPriorityFeePerGas } : null;
}

function patienceMs(attempts: number, bumpAfterMs: number): number {
  return bumpAfterMs * WAIT_FACTOR * 2 ** Math.min(attempts - 1, MAXIMUM_DOUBLINGS);
}

/** Rounded up, and at least one more. */
function bumpByPercent(wei: bigint): bigint {
  return wei + wei / 8n + 1n;
}

/** More than the tip rises by, so that the base fee is followed although the tip is bounded. */
function addQuarter(wei: bigint): bigint {
  return wei + wei / 4n + 1n;
}

/** Closes a batch whose nonce is spent for good, after the watcher has seen what its transaction did. */
async function resolveBatch(context: RelayContext, batch: RelayBatch): Promise<void> {
  const nowMs = context.nowMs();
  const isMined =
    batch.kind !== 'forward' || (await context.relayer.isAnyMined(batch.attempts.map(({ hash }) => hash)));
  const unreleased = new Set<PaymentId>();
  await closeBatch(context, batch, 'resolved', ({ payment, observations }) => {
    const isReleased = observations.releases.some(({ transactionHash }) =>
      batch.attempts.some(({ hash }) => hash === transactionHash),
    );
    // What is held although we released came later, or was released by a rival: it is due at once.
    if (isReleased || sumObservations(observations).heldUnits === 0n) {
      return { noOpBatches: 0, releaseDueAtMs: null };
    }
    unreleased.add(payment.id);
    // Another transaction took the nonce: that says nothing against the payment, and no gas was spent on it.
    if (!isMined) return { releaseDueAtMs: nowMs + RETRY_AFTER_ABANDONED_MS };
    return afterNoOpBatch(payment, nowMs);
  });
  if (unreleased.size > 0) {
    const kind = isMined ? 'no_op_batch' : 'displaced_batch';
    context.onIncident({ kind, batchId: batch.id, paymentIds: [...unreleased] });
  }
}

/** Gives up a batch that will not be mined. Should it be mined after all, it moves nothing that was released since. */
export async function abandonBatch(context: RelayContext, batch: RelayBatch): Promise<void> {
  const releaseDueAtMs = context.nowMs() + RETRY_AFTER_ABANDONED_MS;
  await closeBatch(context, batch, 'abandoned', () => ({ releaseDueAtMs }));
}

/** Gas was spent and nothing released. That says nothing of why, so the state stays; but gas is not burnt in a loop. */
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
  // A rescue carries no release: nothing of its payment changes.
  const decide: Decide = (view) => settle(view, { nowMs }, batch.kind === 'forward' ? changeOf(view) : {});
  await context.relay.closeBatch(batch.id, outcome, nowMs, decide);
  forgetBatch(context.memory, batch.id);
}
