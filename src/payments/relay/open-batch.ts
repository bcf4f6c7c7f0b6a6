import type { Payment } from '../../domain/payment.ts';
import { type FeeQuote, type Relayer, TransactionRefusedError } from '../../domain/ports/chain.ts';
import { settle } from '../../domain/settle.ts';
import { fitBatch } from './fit-batch.ts';
import { keepReleasable } from './keep-releasable.ts';
import { isOver, type RelayContext, type RelayPass } from './relay-context.ts';
import { forwardCall, signAttempt } from './sign-attempt.ts';

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
    const isWaitedFor = isOver(oldest.releaseDueAtMs ?? 0, limits.batchWindowMs, nowMs);
    return due.length < batchSize && !isWaitedFor ? 'collecting' : await sendBatch(context, due, oldest);
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
  const releasable = await keepReleasable(context, sameFactory);
  const fitted = releasable.length === 0 ? null : await fitBatch(context, releasable);
  if (fitted === null) return 'refused';

  const { payments, gasLimit } = fitted;
  const call = forwardCall(payments);
  const nonce = await relayer.readLatestTransactionCount();
  const fees = await quoteAffordableFees(relayer, gasLimit);
  const attempt = await signAttempt(context, call, nonce, gasLimit, fees);
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

/** Throws `TransactionRefusedError` without enough gas money: such a batch would withhold payments from other relayers. */
async function quoteAffordableFees(relayer: Relayer, gasLimit: bigint): Promise<FeeQuote> {
  const [fees, gasBalance] = await Promise.all([relayer.quoteFees(), relayer.readGasBalance()]);
  if (gasBalance >= gasLimit * fees.maxFeePerGas) return fees;
  throw new TransactionRefusedError(
    `insufficient funds for gas: relayer ${relayer.address} has ${gasBalance} wei`,
  );
}
