import type { Payment } from '../../domain/payment.ts';
import { CallRevertedError, type FeeQuote, TransactionRefusedError } from '../../domain/ports/chain.ts';
import type { RelayAttempt, RelayBatch } from '../../domain/ports/settlement-store.ts';
import { settle } from '../../domain/settle.ts';
import { forwardCall, type RelayContext, signAttempt } from './relay-context.ts';
import { type FeeBounds, readFeeBudget, type ShrunkBatch, shrinkToGasLimit } from './size-batch.ts';

/**
 * How nodes say that a transaction offers too little for its gas, or less than another one with its nonce does. Any
 * other refusal may be one of its size: a cap on the fee, the balance, a limit on gas or bytes.
 */
const underpriced = /underpriced|base fee|\btip\b|gas price/i;

/** A transaction that replaces a refused one costs at most seven eighths, so that there is an end to it. */
const COST_NUMERATOR = 7n;
const COST_DENOMINATOR = 8n;

/** Whether higher fees can answer the refusal, rather than a smaller batch. */
export function isUnderpriced(refusal: TransactionRefusedError): boolean {
  return underpriced.test(refusal.message);
}

/**
 * Broadcasts the last attempt of a batch that is committed. While every node refuses it, replaces it at its nonce by a
 * smaller one. Throws the last `TransactionRefusedError` when nothing smaller is left.
 */
export async function broadcastOrShrink(context: RelayContext, batch: RelayBatch): Promise<void> {
  for (let current = batch; ; ) {
    try {
      return await context.relayer.broadcast((current.attempts.at(-1) as RelayAttempt).rawTransaction);
    } catch (error) {
      if (!(error instanceof TransactionRefusedError)) throw error;
      const smaller = await replaceRefused(context, current, error);
      if (smaller === null) throw error;
      current = smaller;
    }
  }
}

/**
 * Signs a batch that every node refuses anew, at its nonce, with half of its payments; a single one only when its gas
 * has become cheaper. Commits it and sends nothing. Null where that cannot help. Should the earlier transaction be
 * mined after all, the new one cannot be, and what the earlier one released is not released again.
 */
export async function replaceRefused(
  context: RelayContext,
  batch: RelayBatch,
  refusal: TransactionRefusedError,
): Promise<RelayBatch | null> {
  if (batch.kind !== 'forward' || isUnderpriced(refusal)) return null;
  const last = batch.attempts.at(-1) as RelayAttempt;
  const lessWei = (batch.gasLimit * last.maxFeePerGas * COST_NUMERATOR) / COST_DENOMINATOR;
  const [fees, mostWei] = await Promise.all([context.relayer.quoteFees(), readFeeBudget(context)]);
  const payments = await paymentsOf(context, batch);
  const half = payments.slice(0, Math.ceil(payments.length / 2));
  const bounds = { fees, budgetWei: lessWei < mostWei ? lessWei : mostWei };
  const smaller = await replaceBy(context, batch, half, bounds);
  if (smaller !== null) {
    context.memory.largestBatch = smaller.paymentIds.length;
    context.memory.refusedAtMs = context.nowMs();
  }
  return smaller;
}

/**
 * Signs a batch whose fees must rise, and can no longer be paid for all of its payments, anew at its nonce with as many
 * as the budget covers. Commits it and sends nothing. Null where not even one is covered.
 */
export async function replaceByDearer(
  context: RelayContext,
  batch: RelayBatch,
  fees: FeeQuote,
): Promise<RelayBatch | null> {
  if (batch.kind !== 'forward') return null;
  const [payments, budgetWei] = await Promise.all([paymentsOf(context, batch), readFeeBudget(context)]);
  return replaceBy(context, batch, payments, { fees, budgetWei });
}

async function replaceBy(
  context: RelayContext,
  batch: RelayBatch,
  candidates: readonly Payment[],
  bounds: FeeBounds,
): Promise<RelayBatch | null> {
  const fitted = await shrinkOrNull(context, candidates, bounds);
  if (fitted === null) return null;
  const { payments, gasLimit } = fitted;
  const attempt = await signAttempt(context, forwardCall(payments), batch.nonce, gasLimit, bounds.fees);
  const nowMs = context.nowMs();
  const { id, ...replaced } = batch;
  const replacement = {
    ...replaced,
    gasLimit,
    paymentIds: payments.map((payment) => payment.id),
    attempts: [attempt],
    createdAtMs: nowMs,
  };
  const kept = new Set<string>(replacement.paymentIds);
  const opened = await context.relay.replaceBatch(id, replacement, nowMs, (view) => {
    const change = kept.has(view.payment.id) ? {} : { releaseDueAtMs: nowMs };
    return settle(view, { nowMs, expiredBeforeMs: null }, change);
  });
  context.memory.firstSeenMs.delete(id);
  context.onIncident({
    kind: 'replaced_batch',
    batchId: id,
    fromPayments: batch.paymentIds.length,
    toPayments: payments.length,
  });
  return opened;
}

async function shrinkOrNull(
  context: RelayContext,
  candidates: readonly Payment[],
  bounds: FeeBounds,
): Promise<ShrunkBatch | null> {
  try {
    return await shrinkToGasLimit(context, candidates, bounds);
  } catch (error) {
    if (error instanceof TransactionRefusedError || error instanceof CallRevertedError) return null;
    throw error;
  }
}

/** The payments that a stored batch carries, in its order. */
export async function paymentsOf(
  { payments: store }: Pick<RelayContext, 'payments'>,
  batch: RelayBatch,
): Promise<Payment[]> {
  const payments: Payment[] = [];
  for (const id of batch.paymentIds) {
    const payment = await store.findPaymentById(id);
    if (payment === null) throw new Error(`relay batch ${batch.id} carries the unknown payment ${id}`);
    payments.push(payment);
  }
  return payments;
}
