import { settle } from '../../domain/settle.ts';
import { fitBatch } from './fit-batch.ts';
import { keepReleasable } from './keep-releasable.ts';
import { isOver, type RelayContext, type RelayPass } from './relay-context.ts';
import { forwardCall, signAttempt } from './sign-attempt.ts';

/** Collects what is due, leaves out what the token would refuse, and commits and sends the rest. */
export async function openBatch(context: RelayContext): Promise<RelayPass> {
  const { limits, relayer, memory } = context;
  const batchSize = memory.largestBatch ?? limits.batchSize;
  const due = await context.relay.listDueReleases(context.nowMs(), batchSize);
  const oldest = due[0];
  if (oldest === undefined) return 'idle';
  const isWaitedFor = isOver(oldest.releaseDueAtMs ?? 0, limits.batchWindowMs, context.nowMs());
  if (due.length < batchSize && !isWaitedFor) return 'collecting';

  // One transaction goes to one factory; payments of an earlier one take their turn when they are the oldest.
  const sameFactory = due.filter((payment) => payment.factory === oldest.factory);
  const releasable = await keepReleasable(context, sameFactory);
  const fitted = releasable.length === 0 ? null : await fitBatch(context, releasable);
  if (fitted === null) return 'refused';

  const { payments, gasLimit } = fitted;
  const call = forwardCall(payments);
  const nonce = await relayer.readLatestTransactionCount();
  const attempt = await signAttempt(context, call, nonce, gasLimit, await relayer.quoteFees());
  const nowMs = context.nowMs();
  await context.relay.openBatch(
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
  await relayer.broadcast(attempt.rawTransaction);
  return 'opened';
}
