import { termsOf } from '../../payment/address.ts';
import { smaller } from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';
import type { Decide } from '../../payment/payment-store.ts';
import { isOver } from '../../payment/release-schedule.ts';
import { settle } from '../../payment/settle.ts';
import type { RelayLimits } from '../batch-and-gas-limits.ts';
import {
  CallRevertedError,
  ChainUnavailableError,
  type FeeQuote,
  type RelayCall,
  type RelayTransaction,
  SELF_TRANSFER_GAS,
  TransactionRefusedError,
} from '../chain/chain.ts';
import { gasLimitFor, leastPlausibleGas, releaseGas } from '../chain/gas.ts';
import type { RelayAttempt, RelayBatch } from '../settlement-store.ts';
import type { RelayContext } from './relay-context.ts';

export function forwardCall(payments: readonly Payment[]): RelayCall {
  const factory = (payments[0] as Payment).factory;
  return { kind: 'forward', factory, terms: payments.map(termsOf) };
}

export async function signAttempt(
  context: Pick<RelayContext, 'relayer' | 'nowMs'>,
  transaction: RelayTransaction,
  nonce: number,
  gasLimit: bigint,
  fees: FeeQuote,
): Promise<RelayAttempt> {
  const signed = await context.relayer.sign(transaction, nonce, gasLimit, fees);
  return { ...signed, signedAtMs: context.nowMs() };
}

/** Returns the maximum cost of unmined batches in wei, which nodes reserve from the balance. */
export function costOf(batches: readonly Pick<RelayBatch, 'gasLimit' | 'attempts'>[]): bigint {
  return batches.reduce(
    (sum, { gasLimit, attempts }) => sum + gasLimit * (attempts.at(-1) as RelayAttempt).maxFeePerGas,
    0n,
  );
}

export interface ShrunkBatch {
  readonly payments: readonly Payment[];
  readonly gasLimit: bigint;
}

/** Fees of a transaction, and its maximum cost (gas limit times fee). */
export interface FeeBounds {
  readonly fees: FeeQuote;
  readonly budgetWei: bigint;
  /** Whether to use our own gas figure, because an earlier gas limit was refused or not mined. Default false. */
  readonly isOwnGas?: boolean;
}

/** Time that batches stay small after every node refused a larger one. */
const SIZE_COOLDOWN_MS = 600_000;

/** Reads the maximum cost of a transaction. Nodes compare gas limit times fee with the balance and their own cap. */
async function readFeeBudget({ relayer, limits }: RelayContext, othersWei: bigint): Promise<bigint> {
  return feeBudgetOf(limits, await relayer.readGasBalance(), othersWei);
}

export function feeBudgetOf(
  { maximumTransactionFeeWei }: Pick<RelayLimits, 'maximumTransactionFeeWei'>,
  balanceWei: bigint,
  othersWei: bigint,
): bigint {
  return balanceWei > othersWei ? smaller(balanceWei - othersWei, maximumTransactionFeeWei) : 0n;
}

/**
 * Takes as many of the first payments as one transaction can release within the budget. Halves their number while the
 * call would fail. Uses our own gas figure if `isOwnGas` is set, or if a payment was in an odd number of batches that
 * had no effect. Throws `CallRevertedError` if the first payment fails alone, and `TransactionRefusedError` if the
 * budget does not cover it. After a `ChainUnavailableError`, the next batch is half as large, because some nodes answer
 * a call that is too large with such an error.
 */
export async function shrinkToGasLimit(
  context: RelayContext,
  payments: readonly Payment[],
  { fees, budgetWei, isOwnGas = false }: FeeBounds,
): Promise<ShrunkBatch> {
  let hasReverted = false;
  for (let size = payments.length; ; ) {
    const fitting = payments.slice(0, size);
    const isOwn = isOwnGas || fitting.some(({ noOpBatches }) => noOpBatches % 2 === 1);
    const estimate = isOwn ? releaseGas(size) : await estimateRelease(context, fitting);
    if (typeof estimate !== 'bigint') {
      if (size === 1) throw estimate;
      hasReverted = true;
      size = Math.ceil(size / 2);
      continue;
    }
    const costWei = estimate * fees.maxFeePerGas;
    if (costWei <= budgetWei) {
      rememberSize(context, payments.length, hasReverted ? size : null);
      return { payments: fitting, gasLimit: estimate };
    }
    if (size === 1) throw unaffordableError(context, costWei, budgetWei);
    // A transaction has a fixed cost, so proportionally fewer payments may still cost slightly too much.
    size = Math.max(1, Math.min(size - 1, Number((BigInt(size) * budgetWei) / costWei)));
  }
}

async function estimateRelease(
  { relayer, memory }: RelayContext,
  payments: readonly Payment[],
): Promise<bigint | CallRevertedError> {
  try {
    return await relayer.estimateGas(forwardCall(payments));
  } catch (error) {
    if (error instanceof CallRevertedError) return error;
    if (error instanceof ChainUnavailableError) memory.largestBatch = Math.ceil(payments.length / 2);
    throw error;
  }
}

export function unaffordableError(
  { relayer, limits }: Pick<RelayContext, 'relayer' | 'limits'>,
  costWei: bigint,
  budgetWei: bigint,
): TransactionRefusedError {
  const bound =
    budgetWei < limits.maximumTransactionFeeWei
      ? `insufficient funds for gas: relayer ${relayer.address} can spend ${budgetWei} wei`
      : `RELAY_MAX_FEE_POL allows ${budgetWei} wei`;
  return new TransactionRefusedError(`${bound}, and the transaction may cost ${costWei} wei`);
}

/** Records a batch's size. A success doubles the next maximum, unless nodes recently refused a larger batch. */
function rememberSize(context: RelayContext, requested: number, halved: number | null): void {
  const { memory, limits, onIncident } = context;
  if (halved !== null) {
    memory.largestBatch = halved;
    onIncident({ kind: 'halved_batch', fromPayments: requested, toPayments: halved });
    return;
  }
  if (memory.largestBatch === null) return;
  const { refusedAtMs } = memory;
  if (refusedAtMs !== null && !isOver(refusedAtMs, SIZE_COOLDOWN_MS, context.nowMs())) return;
  const twice = memory.largestBatch * 2;
  memory.largestBatch = twice < limits.releasesPerBatch ? twice : null;
}

/** Nodes' messages for a gas price that is too low. Other refusals may concern the batch's cost, gas or bytes. */
const underpriced = /underpriced|base fee|\btip\b|gas price/i;

/** Maximum cost of a replacement as a fraction of the refused transaction's, so that replacements end. */
const COST_NUMERATOR = 7n;
const COST_DENOMINATOR = 8n;

/** Returns whether higher fees, rather than a smaller batch, can resolve the refusal. */
export function isUnderpriced(refusal: TransactionRefusedError): boolean {
  return underpriced.test(refusal.message);
}

/** Nodes' messages for a transaction that they would accept later, after earlier ones or in an emptier pool. */
const untimely = /nonce (?:is )?too high|gapped|pool is full|pool overflow|queue(?:d)? (?:is full|limit)/i;

/** Nodes' messages for a balance that does not cover a transaction, alone or together with others. */
const unfunded = /insufficient (?:funds|balance)|overshot/i;

/** Nodes' messages for a transaction whose gas limit times fee exceeds their own cap. */
const capped = /exceeds the configured cap/i;

/** Returns whether a refusal concerns only POL for gas, the price or the timing, not the release itself. */
export function isAboutFunds(refusal: TransactionRefusedError): boolean {
  const reasons = [underpriced, unfunded, untimely, capped];
  return reasons.some((reason) => reason.test(refusal.message));
}

/** Ignores a refusal, because a refused batch is rebroadcast or replaced once it is next. Rethrows other errors. */
export function ignoreRefusal(error: unknown): void {
  if (!(error instanceof TransactionRefusedError)) throw error;
}

/**
 * Broadcasts the last attempt of a committed batch, and replaces the batch with a smaller one while every node refuses.
 * Returns the batch that remains open. Throws the last `TransactionRefusedError` if nothing smaller is left.
 */
export async function broadcastOrShrink(
  context: RelayContext,
  batch: RelayBatch,
  othersWei: bigint,
): Promise<RelayBatch> {
  for (let current = batch; ; ) {
    try {
      await context.relayer.broadcast((current.attempts.at(-1) as RelayAttempt).rawTransaction);
      return current;
    } catch (error) {
      if (!(error instanceof TransactionRefusedError)) throw error;
      if (untimely.test(error.message)) return current;
      const replacement = await replaceRefused(context, current, error, othersWei);
      if (replacement === null) throw error;
      current = replacement;
    }
  }
}

/**
 * Replaces a batch that every node refuses, at the same nonce. Uses our own gas figure if the batch's gas is
 * implausible, and otherwise half of its payments. A single payment is replaced only at a lower gas cost. Commits
 * without sending. Returns null if no replacement can help.
 */
export async function replaceRefused(
  context: RelayContext,
  batch: RelayBatch,
  refusal: TransactionRefusedError,
  othersWei: bigint,
): Promise<RelayBatch | null> {
  if (isUnderpriced(refusal) || untimely.test(refusal.message)) return null;
  const last = batch.attempts.at(-1) as RelayAttempt;
  const lessWei = (batch.gasLimit * last.maxFeePerGas * COST_NUMERATOR) / COST_DENOMINATOR;
  const [fees, mostWei] = await Promise.all([context.relayer.quoteFees(), readFeeBudget(context, othersWei)]);
  if (batch.kind !== 'forward') {
    if (batch.gasLimit * fees.maxFeePerGas > lessWei) return null;
    const transaction = await transactionOf(context, batch);
    const attempt = await signAttempt(context, transaction, batch.nonce, batch.gasLimit, fees);
    return replaceBatch(context, batch, { attempts: [attempt] }, () => null);
  }
  const payments = await paymentsOf(context, batch);
  if (hasOddGas(batch))
    return replaceByFewer(context, batch, payments, { fees, budgetWei: mostWei, isOwnGas: true });
  const half = payments.slice(0, Math.ceil(payments.length / 2));
  const bounds = { fees, budgetWei: smaller(lessWei, mostWei) };
  const replacement = await replaceByFewer(context, batch, half, bounds);
  if (replacement !== null) {
    context.memory.largestBatch = replacement.paymentIds.length;
    context.memory.refusedAtMs = context.nowMs();
  }
  return replacement;
}

/** Returns whether the gas limit is below half of our own figure, or above the limit for that figure. */
function hasOddGas({ gasLimit, paymentIds }: RelayBatch): boolean {
  const figure = releaseGas(paymentIds.length);
  return gasLimit < leastPlausibleGas(figure) || gasLimit > gasLimitFor(figure);
}

/**
 * Replaces an overdue batch at the same nonce, with these fees and our own gas figure. Keeps half of its payments, or
 * all if its gas was implausible. Commits without sending. Returns null if that is not possible.
 */
export async function replaceOverdue(
  context: RelayContext,
  batch: RelayBatch,
  bounds: FeeBounds,
): Promise<RelayBatch | null> {
  if (batch.kind !== 'forward') return null;
  const payments = await paymentsOf(context, batch);
  const count = hasOddGas(batch) ? payments.length : Math.floor(payments.length / 2);
  if (count === 0) return null;
  return replaceByFewer(context, batch, payments.slice(0, count), { ...bounds, isOwnGas: true });
}

/** Replaces a batch with the payments that the budget covers at higher fees, without sending. Returns null for none. */
export async function replaceByDearer(
  context: RelayContext,
  batch: RelayBatch,
  fees: FeeQuote,
  othersWei: bigint,
): Promise<RelayBatch | null> {
  if (batch.kind !== 'forward') return null;
  const [payments, budgetWei] = await Promise.all([
    paymentsOf(context, batch),
    readFeeBudget(context, othersWei),
  ]);
  return replaceByFewer(context, batch, payments, { fees, budgetWei });
}

/** Replaces a batch with a transfer to the relayer itself, without sending. `decide` settles the batch's payments. */
export async function replaceBySelfTransfer(
  context: RelayContext,
  batch: RelayBatch,
  fees: FeeQuote,
  decide: Decide,
): Promise<RelayBatch> {
  const attempt = await signAttempt(context, { kind: 'self_transfer' }, batch.nonce, SELF_TRANSFER_GAS, fees);
  const nowMs = context.nowMs();
  const change = { rescueToken: null, gasLimit: SELF_TRANSFER_GAS, paymentIds: [], attempts: [attempt] };
  return replaceBatch(context, batch, { ...change, kind: 'self_transfer' }, (view) =>
    batch.kind === 'forward' ? decide(view) : settle(view, { nowMs }, {}),
  );
}

async function replaceByFewer(
  context: RelayContext,
  batch: RelayBatch,
  candidates: readonly Payment[],
  bounds: FeeBounds,
): Promise<RelayBatch | null> {
  const fitted = await shrinkToGasLimit(context, candidates, bounds).catch((error: unknown) => {
    if (error instanceof TransactionRefusedError || error instanceof CallRevertedError) return null;
    throw error;
  });
  if (fitted === null) return null;
  const { payments, gasLimit } = fitted;
  // Nodes would refuse this low gas limit, our own figure would replace it, and the two would alternate forever.
  const isSame = payments.length === batch.paymentIds.length;
  if (isSame && !hasOddGas(batch) && gasLimit < leastPlausibleGas(releaseGas(payments.length))) return null;
  const attempt = await signAttempt(context, forwardCall(payments), batch.nonce, gasLimit, bounds.fees);
  const nowMs = context.nowMs();
  const paymentIds = payments.map(({ id }) => id);
  const kept = new Set(paymentIds);
  return replaceBatch(context, batch, { gasLimit, paymentIds, attempts: [attempt] }, (view) => {
    const change = kept.has(view.payment.id) ? {} : { releaseDueAtMs: nowMs };
    return settle(view, { nowMs }, change);
  });
}

async function replaceBatch(
  context: RelayContext,
  { id, ...replaced }: RelayBatch,
  change: Partial<RelayBatch>,
  decide: Decide,
): Promise<RelayBatch> {
  const nowMs = context.nowMs();
  const replacement = { ...replaced, ...change, createdAtMs: nowMs };
  const opened = await context.relay.replaceBatch(id, replacement, nowMs, decide);
  forgetBatch(context.memory, id);
  context.onIncident({
    kind: 'replaced_batch',
    batchId: id,
    fromPayments: replaced.paymentIds.length,
    toPayments: opened.paymentIds.length,
  });
  return opened;
}

export async function transactionOf(context: RelayContext, batch: RelayBatch): Promise<RelayTransaction> {
  if (batch.kind === 'self_transfer') return { kind: batch.kind };
  const call = forwardCall(await paymentsOf(context, batch));
  if (batch.kind === 'forward' || batch.rescueToken === null) return call;
  return { ...call, kind: 'rescue', token: batch.rescueToken as `0x${string}` };
}

async function paymentsOf(
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

export function forgetBatch({ firstSeenMs, headSinceMs }: RelayContext['memory'], batchId: number): void {
  firstSeenMs.delete(batchId);
  headSinceMs.delete(batchId);
}
