import type { FeeQuote, RelayCall, TransactionRefusedError } from '../../domain/ports/chain.ts';
import type { RelayAttempt, RelayBatch } from '../../domain/ports/relay-store.ts';
import { abandonBatch, resolveBatch } from './close-batch.ts';
import { readFeeBudget } from './fit-batch.ts';
import { raiseFees } from './raise-fees.ts';
import { rebroadcast } from './rebroadcast.ts';
import { isOver, type RelayContext, type RelayPass } from './relay-context.ts';
import {
  broadcastOrShrink,
  isUnderpriced,
  paymentsOf,
  replaceByDearer,
  replaceRefused,
} from './replace-batch.ts';
import { forwardCall, signAttempt } from './sign-attempt.ts';

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
