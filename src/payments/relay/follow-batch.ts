import type { Payment } from '../../domain/payment.ts';
import type { FeeQuote, RelayCall } from '../../domain/ports/chain.ts';
import type { RelayAttempt, RelayBatch } from '../../domain/ports/relay-store.ts';
import { abandonBatch, resolveBatch } from './close-batch.ts';
import { raiseFees } from './raise-fees.ts';
import { rebroadcast } from './rebroadcast.ts';
import { isOver, type RelayContext, type RelayPass } from './relay-context.ts';
import { forwardCall, signAttempt } from './sign-attempt.ts';

/**
 * Rebroadcasts, bumps or closes what is in flight. Throws `TransactionRefusedError` when no node takes any attempt and
 * higher fees would not change that.
 */
export async function followBatch(context: RelayContext, batch: RelayBatch): Promise<RelayPass> {
  const final = await context.relayer.readFinalTransactionCount();
  if (batch.nonce < final.count) {
    return (await resolveBatch(context, batch, final.blockNumber)) ? 'resolved' : 'waiting';
  }
  const latestCount = await context.relayer.readLatestTransactionCount();
  if (batch.nonce > latestCount) return waitOutGap(context, batch);
  context.memory.firstSeenMs.delete(batch.id);
  if (batch.nonce < latestCount) return 'waiting'; // Mined; final soon.

  const refusal = await rebroadcast(context.relayer, batch);
  const fees = await higherFees(context, batch, refusal === null);
  if (fees === null) {
    if (refusal !== null) throw refusal;
    return 'rebroadcast';
  }
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
  const [quote, gasBalance] = await Promise.all([relayer.quoteFees(), relayer.readGasBalance()]);
  return raiseFees({ ...batch, quote, gasBalance, wasTaken, nowMs, limits });
}

/** The call that a stored batch makes, for signing it again. */
async function callOf(context: RelayContext, batch: RelayBatch): Promise<RelayCall> {
  const payments: Payment[] = [];
  for (const id of batch.paymentIds) {
    const payment = await context.payments.findPaymentById(id);
    if (payment === null) throw new Error(`relay batch ${batch.id} carries the unknown payment ${id}`);
    payments.push(payment);
  }
  const call = forwardCall(payments);
  if (batch.kind === 'forward' || batch.rescueToken === null) return call;
  return { ...call, kind: 'rescue', token: batch.rescueToken as `0x${string}` };
}
