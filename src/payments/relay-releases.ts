import { paymentReference } from '../domain/deposit-address.ts';
import { type Payment, termsOf } from '../domain/payment.ts';
import {
  CallRevertedError,
  type FeeQuote,
  type RelayCall,
  type Relayer,
  type TokenReader,
} from '../domain/ports/chain.ts';
import type { LedgerStore } from '../domain/ports/ledger-store.ts';
import type { Decide, PaymentStore } from '../domain/ports/payment-store.ts';
import type { RelayAttempt, RelayBatch, RelayStore } from '../domain/ports/relay-store.ts';
import { refuseRelease, settle } from '../domain/settle.ts';

export interface RelayContext {
  readonly payments: PaymentStore;
  readonly ledger: LedgerStore;
  readonly relay: RelayStore;
  readonly relayer: Relayer;
  readonly token: TokenReader;
  readonly nowMs: () => number;
  readonly limits: RelayLimits;
}

export interface RelayLimits {
  /** Releases in one transaction. */
  readonly batchSize: number;
  /** How long the first due release waits for others to share its transaction. */
  readonly batchWindowMs: number;
  /** How long an attempt may stay unmined before it is signed again with higher fees. */
  readonly bumpAfterMs: number;
  /** Fees are never raised above this, in wei per gas. */
  readonly maximumFeePerGas: bigint;
  /** How long a gap before our nonce is waited out before the batch is given up. */
  readonly nonceGapPatienceMs: number;
}

export const defaultRelayLimits: RelayLimits = {
  batchSize: 100,
  batchWindowMs: 2_000,
  bumpAfterMs: 15_000,
  maximumFeePerGas: 5_000n * 10n ** 9n,
  nonceGapPatienceMs: 30_000,
};

/** What a pass did. */
export type RelayPass =
  | 'idle'
  | 'collecting'
  | 'refused'
  | 'opened'
  | 'waiting'
  | 'rebroadcast'
  | 'bumped'
  | 'resolved'
  | 'abandoned';

/** A resolved batch that did not release a payment is tried again only after this, so that gas is not burnt in a loop. */
const RETRY_AFTER_BATCH_MS = 10_000;

/** At the time of simulation nothing lay at the address: the watcher will see why. */
const RETRY_AFTER_EMPTY_MS = 5_000;

const SIMULATIONS_AT_A_TIME = 10;

/**
 * One pass of the sender for its relayer key, which has at most one transaction in flight. What was signed is
 * committed before it is broadcast, and after a crash the same bytes are broadcast again; a payment settles only
 * from what the watcher sees, never from what happened to our own transaction.
 */
export async function relayReleases(context: RelayContext): Promise<RelayPass> {
  const open = await context.relay.findOpenBatch(context.relayer.address);
  return open === null ? openBatch(context) : followBatch(context, open);
}

/** Rebroadcasts, bumps or closes what is in flight. */
async function followBatch(context: RelayContext, batch: RelayBatch): Promise<RelayPass> {
  const final = await context.relayer.readFinalTransactionCount();
  if (batch.nonce < final.count) return resolveBatch(context, batch, final.blockNumber);

  const latestCount = await context.relayer.readLatestTransactionCount();
  if (batch.nonce < latestCount) return 'waiting'; // Mined; final soon.
  if (batch.nonce > latestCount) return closeGap(context, batch);

  const last = batch.attempts.at(-1) as RelayAttempt;
  const isOverdue = context.nowMs() - last.signedAtMs >= context.limits.bumpAfterMs;
  const raised = isOverdue ? raisedFees(last, context.limits.maximumFeePerGas) : null;
  if (raised === null) {
    await context.relayer.broadcast(last.rawTransaction);
    return 'rebroadcast';
  }
  const attempt = await signAttempt(
    context,
    await callOf(context, batch),
    batch.nonce,
    batch.gasLimit,
    raised,
  );
  await context.relay.addAttempt(batch.id, attempt);
  await context.relayer.broadcast(attempt.rawTransaction);
  return 'bumped';
}

/** The nonce is spent for good. Waits until the watcher has seen what it did. */
async function resolveBatch(
  context: RelayContext,
  batch: RelayBatch,
  finalBlock: number,
): Promise<RelayPass> {
  const cursor = await context.ledger.readCursor();
  if (cursor === null || cursor.number < finalBlock) return 'waiting';
  await context.relay.closeBatch(batch.id, 'resolved', context.nowMs(), decideAfterBatch(context));
  return 'resolved';
}

/** Transactions before ours are missing on the chain (it lost blocks): ours can never be mined with this nonce. */
async function closeGap(context: RelayContext, batch: RelayBatch): Promise<RelayPass> {
  if (context.nowMs() - batch.createdAtMs < context.limits.nonceGapPatienceMs) return 'waiting';
  await context.relay.closeBatch(batch.id, 'abandoned', context.nowMs(), decideAfterBatch(context));
  return 'abandoned';
}

function decideAfterBatch(context: RelayContext): Decide {
  const nowMs = context.nowMs();
  return (view) =>
    settle(view, { nowMs, expiredBeforeMs: null }, { releaseDueAtMs: nowMs + RETRY_AFTER_BATCH_MS });
}

/** Both fees a quarter higher (nodes want at least a tenth), or null when the cap allows no more. */
function raisedFees(last: FeeQuote, maximumFeePerGas: bigint): FeeQuote | null {
  const maxFeePerGas = (last.maxFeePerGas * 5n + 3n) / 4n;
  if (maxFeePerGas > maximumFeePerGas) return null;
  return { maxFeePerGas, maxPriorityFeePerGas: (last.maxPriorityFeePerGas * 5n + 3n) / 4n };
}

/** Collects what is due, leaves out what the token would refuse, and commits and sends the rest. */
async function openBatch(context: RelayContext): Promise<RelayPass> {
  const { limits, relayer } = context;
  const due = await context.relay.listDueReleases(context.nowMs(), limits.batchSize);
  const oldest = due[0];
  if (oldest === undefined) return 'idle';
  const waitedMs = context.nowMs() - (oldest.releaseDueAtMs ?? 0);
  if (due.length < limits.batchSize && waitedMs < limits.batchWindowMs) return 'collecting';

  // One transaction goes to one factory; payments of an earlier one take their turn when they are the oldest.
  const sameFactory = due.filter((payment) => payment.factory === oldest.factory);
  const payments = await keepReleasable(context, sameFactory);
  const gasLimit = payments.length === 0 ? null : await estimateOrRefuse(context, payments);
  if (gasLimit === null) return 'refused';

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

/** Simulates each release; what the token refuses is recorded with its reason and tried again later. */
async function keepReleasable(context: RelayContext, payments: readonly Payment[]): Promise<Payment[]> {
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
    await context.payments.decidePayment(payment.id, (view) =>
      settle(view, settleContext, { releaseDueAtMs }),
    );
    return false;
  }
  const reason = await context.token.simulateRelease(payment.depositAddress, payment.payoutAddress, balance);
  if (reason === null) return true;
  await context.payments.decidePayment(payment.id, (view) => refuseRelease(view, settleContext, reason));
  return false;
}

/**
 * Gas for the batch, or null when it would fail as a whole: then each payment is asked alone, and the ones that
 * spoil it are put off, so that the next batch is without them.
 */
async function estimateOrRefuse(context: RelayContext, payments: readonly Payment[]): Promise<bigint | null> {
  try {
    return await context.relayer.estimateGas(forwardCall(payments));
  } catch (error) {
    if (!(error instanceof CallRevertedError)) throw error;
  }
  const settleContext = { nowMs: context.nowMs(), expiredBeforeMs: null };
  for (const payment of payments) {
    const reason = await revertReasonOf(context, payment);
    if (reason === null) continue;
    await context.payments.decidePayment(payment.id, (view) => refuseRelease(view, settleContext, reason));
  }
  return null;
}

async function revertReasonOf(context: RelayContext, payment: Payment): Promise<string | null> {
  try {
    await context.relayer.estimateGas(forwardCall([payment]));
    return null;
  } catch (error) {
    if (error instanceof CallRevertedError) return error.message;
    throw error;
  }
}

function forwardCall(payments: readonly Payment[]): RelayCall {
  const factory = (payments[0] as Payment).factory;
  return {
    kind: 'forward',
    factory,
    terms: payments.map((payment) => termsOf(payment, paymentReference(payment.id))),
  };
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

async function signAttempt(
  context: RelayContext,
  call: RelayCall,
  nonce: number,
  gasLimit: bigint,
  fees: FeeQuote,
): Promise<RelayAttempt> {
  const signed = await context.relayer.sign(call, nonce, gasLimit, fees);
  return { ...signed, signedAtMs: context.nowMs() };
}
