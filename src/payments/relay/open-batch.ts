import type { Payment } from '../../domain/payment.ts';
import { CallRevertedError } from '../../domain/ports/chain.ts';
import { RETRY_AFTER_EMPTY_MS, refuseRelease, settle } from '../../domain/settle.ts';
import {
  chooseNonce,
  forwardCall,
  isOver,
  type RelayContext,
  type RelayPass,
  signAttempt,
} from './relay-context.ts';
import { broadcastOrShrink } from './replace-batch.ts';
import { type FeeBounds, readFeeBudget, type ShrunkBatch, shrinkToGasLimit } from './size-batch.ts';

/** Longer than it takes to simulate, estimate and sign a batch; after a crash others wait for so long. */
const CLAIM_MS = 60_000;

/** Collects what is due, leaves out what the token would refuse, and commits and sends the rest. */
export async function openBatch(context: RelayContext): Promise<RelayPass> {
  const { limits, relayer, memory } = context;
  const batchSize = memory.largestBatch ?? limits.batchSize;
  const nowMs = context.nowMs();
  const due = await context.relay.claimDueReleases(relayer.address, nowMs, batchSize, CLAIM_MS);
  const oldest = due[0];
  if (oldest === undefined) return 'idle';
  try {
    const isWindowOver = isOver(oldest.releaseDueAtMs ?? 0, limits.batchWindowMs, nowMs);
    return due.length < batchSize && !isWindowOver ? 'collecting' : await sendBatch(context, due, oldest);
  } finally {
    // What is not in the batch, for whatever reason, another relayer may release.
    await context.relay.dropClaims(relayer.address);
  }
}

async function sendBatch(
  context: RelayContext,
  due: readonly Payment[],
  oldest: Payment,
): Promise<RelayPass> {
  const { relayer } = context;
  // One transaction goes to one factory; payments of an earlier one take their turn when they are the oldest.
  const sameFactory = due.filter((payment) => payment.factory === oldest.factory);
  const releasable = await filterReleasable(context, sameFactory);
  if (releasable.length === 0) return 'refused';
  const [fees, budgetWei] = await Promise.all([relayer.quoteFees(), readFeeBudget(context)]);
  const fitted = await shrinkOrDefer(context, releasable, { fees, budgetWei });
  if (fitted === null) return 'refused';

  const { payments, gasLimit } = fitted;
  const call = forwardCall(payments);
  const nonce = await chooseNonce(context);
  const attempt = await signAttempt(context, call, nonce, gasLimit, fees);
  const nowMs = context.nowMs();
  const batch = await context.relay.openBatch(
    {
      relayer: relayer.address,
      nonce,
      kind: 'forward',
      rescueToken: null,
      gasLimit,
      paymentIds: payments.map(({ id }) => id),
      attempts: [attempt],
      createdAtMs: nowMs,
    },
    (view) =>
      settle(view, { nowMs, expiredBeforeMs: null }, { releaseRefusals: 0, releaseRefusalReason: null }),
  );
  await broadcastOrShrink(context, batch);
  return 'opened';
}

/** A payment whose release fails alone is put off, and null returned, so that the next batch is without it. */
async function shrinkOrDefer(
  context: RelayContext,
  payments: readonly Payment[],
  bounds: FeeBounds,
): Promise<ShrunkBatch | null> {
  try {
    return await shrinkToGasLimit(context, payments, bounds);
  } catch (error) {
    if (!(error instanceof CallRevertedError)) throw error;
    const settleContext = { nowMs: context.nowMs(), expiredBeforeMs: null };
    await context.payments.decidePayment(payments[0] as Payment, (view) =>
      refuseRelease(view, settleContext, error.message),
    );
    return null;
  }
}

const SIMULATIONS_AT_A_TIME = 10;

/** Simulates each release; what the token refuses is recorded with its reason and tried again later. */
async function filterReleasable(context: RelayContext, payments: readonly Payment[]): Promise<Payment[]> {
  const releasable: Payment[] = [];
  for (let start = 0; start < payments.length; start += SIMULATIONS_AT_A_TIME) {
    const group = payments.slice(start, start + SIMULATIONS_AT_A_TIME);
    const kept = await Promise.all(group.map((payment) => isReleasable(context, payment)));
    releasable.push(...group.filter((_, index) => kept[index]));
  }
  return releasable;
}

async function isReleasable(context: RelayContext, payment: Payment): Promise<boolean> {
  const nowMs = context.nowMs();
  const settleContext = { nowMs, expiredBeforeMs: null };
  const balance = await context.token.readBalance(payment.depositAddress);
  if (balance === 0n) {
    // A rival was faster, or the deposit was taken back: no refusal, the watcher is about to see it.
    const releaseDueAtMs = nowMs + RETRY_AFTER_EMPTY_MS;
    await context.payments.decidePayment(payment, (view) => settle(view, settleContext, { releaseDueAtMs }));
    return false;
  }
  const reason = await context.token.simulateRelease(payment.depositAddress, payment.payoutAddress, balance);
  if (reason === null) return true;
  await context.payments.decidePayment(payment, (view) => refuseRelease(view, settleContext, reason));
  return false;
}
