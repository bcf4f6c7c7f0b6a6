import type { Payment, PaymentChange } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import {
  type FeeQuote,
  type RelayCall,
  type Relayer,
  TransactionRefusedError,
} from '../../domain/ports/chain.ts';
import type { Decide, PaymentView } from '../../domain/ports/payment-store.ts';
import type { RelayAttempt, RelayBatch } from '../../domain/ports/settlement-store.ts';
import { RETRY_AFTER_ABANDONED_MS, retryDelayMs, settle, sumObservations } from '../../domain/settle.ts';
import {
  forwardCall,
  isOver,
  type RelayContext,
  type RelayLimits,
  type RelayPass,
  signAttempt,
} from './relay-context.ts';
import {
  broadcastOrShrink,
  isUnderpriced,
  paymentsOf,
  replaceByDearer,
  replaceRefused,
} from './replace-batch.ts';
import { readFeeBudget } from './size-batch.ts';

/**
 * Rebroadcasts, bumps, replaces or closes what is in flight. Throws `TransactionRefusedError` when no node takes any
 * attempt, and neither higher fees nor a smaller batch would change that.
 */
export async function followBatch(context: RelayContext, batch: RelayBatch): Promise<RelayPass> {
  const final = await context.relayer.readFinalTransactionCount();
  if (batch.nonce < final.count) {
    return (await resolveBatch(context, batch, final.blockNumber)) ? 'resolved' : 'waiting';
  }
  // A node that lags counts fewer than are final already.
  const latestCount = Math.max(await context.relayer.readLatestTransactionCount(), final.count);
  if (batch.nonce > latestCount) return waitOutGap(context, batch);
  context.memory.firstSeenMs.delete(batch.id);
  if (batch.nonce < latestCount) return 'waiting'; // Mined; final soon.

  const refusal = await rebroadcast(context.relayer, batch);
  const fees = await higherFees(context, batch, refusal === null || isUnderpriced(refusal));
  if (fees !== null && batch.gasLimit * fees.maxFeePerGas <= (await readFeeBudget(context))) {
    return raise(context, batch, fees);
  }
  if (refusal === null && fees === null) return 'rebroadcast';
  const replacement =
    fees !== null
      ? await replaceByDearer(context, batch, fees)
      : await replaceRefused(context, batch, refusal as TransactionRefusedError);
  if (replacement === null) {
    if (refusal !== null) throw refusal;
    return 'rebroadcast';
  }
  await broadcastOrShrink(context, replacement);
  return 'replaced';
}

/** Signs the same call for the same nonce at higher fees, commits and broadcasts it. */
async function raise(context: RelayContext, batch: RelayBatch, fees: FeeQuote): Promise<RelayPass> {
  const call = await callOf(context, batch);
  const attempt = await signAttempt(context, call, batch.nonce, batch.gasLimit, fees);
  await context.relay.addAttempt(batch.id, attempt);
  await context.relayer.broadcast(attempt.rawTransaction);
  return 'bumped';
}

/** Transactions before ours are missing on the chain (it lost blocks): ours can never be mined with this nonce. */
async function waitOutGap(context: RelayContext, batch: RelayBatch): Promise<RelayPass> {
  const { limits, memory } = context;
  const nowMs = context.nowMs();
  // From when it was first seen: a node that lags for a moment shows a gap before a batch of any age.
  const firstSeenMs = memory.firstSeenMs.get(batch.id);
  if (firstSeenMs === undefined) memory.firstSeenMs.set(batch.id, nowMs);
  if (firstSeenMs === undefined || !isOver(firstSeenMs, limits.nonceGapPatienceMs, nowMs)) return 'waiting';
  await abandonBatch(context, batch);
  return 'abandoned';
}

async function higherFees(
  context: RelayContext,
  batch: RelayBatch,
  wasTaken: boolean,
): Promise<FeeQuote | null> {
  const { relayer, limits } = context;
  const nowMs = context.nowMs();
  const last = batch.attempts.at(-1) as RelayAttempt;
  if (!isOver(last.signedAtMs, limits.bumpAfterMs, nowMs)) return null;
  const quote = await relayer.quoteFees();
  return raiseFees({ ...batch, quote, wasTaken, nowMs, limits });
}

/** The call that a stored batch makes, for signing it again. */
async function callOf(context: RelayContext, batch: RelayBatch): Promise<RelayCall> {
  const call = forwardCall(await paymentsOf(context, batch));
  if (batch.kind === 'forward' || batch.rescueToken === null) return call;
  return { ...call, kind: 'rescue', token: batch.rescueToken as `0x${string}` };
}

/**
 * Hands every attempt of a batch to the chain again, the dearest first: should it be too dear for the gas money that is
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

function larger(first: bigint, second: bigint): bigint {
  return first > second ? first : second;
}

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

/**
 * Closes a batch whose nonce is spent for good. Until the watcher has seen all blocks up to `finalBlock`, and so what
 * the transaction did, it does nothing and returns false.
 */
export async function resolveBatch(
  context: RelayContext,
  batch: RelayBatch,
  finalBlock: number,
): Promise<boolean> {
  const cursor = await context.observations.readCursor();
  if (cursor === null || cursor.number < finalBlock) return false;
  const nowMs = context.nowMs();
  const isMined =
    batch.kind === 'rescue' || (await context.relayer.isAnyMined(batch.attempts.map(({ hash }) => hash)));
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
    const kind = isMined ? 'fruitless_batch' : 'displaced_batch';
    context.onIncident({ kind, batchId: batch.id, paymentIds: [...unreleased] });
  }
  return true;
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
  const decide: Decide = (view) =>
    settle(view, { nowMs, expiredBeforeMs: null }, batch.kind === 'forward' ? changeOf(view) : {});
  await context.relay.closeBatch(batch.id, outcome, nowMs, decide);
  context.memory.firstSeenMs.delete(batch.id);
}
