import type { Payment } from '../../domain/payment.ts';
import {
  CallRevertedError,
  ChainUnavailableError,
  type FeeQuote,
  TransactionRefusedError,
} from '../../domain/ports/chain.ts';
import { forwardCall, isOver, type RelayContext } from './relay-context.ts';

/** Payments that can share a transaction, and the gas it needs. */
export interface ShrunkBatch {
  readonly payments: readonly Payment[];
  readonly gasLimit: bigint;
}

/** The gas price that a transaction offers, and the most that its gas limit may cost at that price. */
export interface FeeBounds {
  readonly fees: FeeQuote;
  readonly budgetWei: bigint;
}

/** Time for which batches stay small after every node refused a larger one. */
const SIZE_COOLDOWN_MS = 600_000;

/**
 * The most that one transaction may cost: nodes refuse one that the balance does not cover, and one above a cap of
 * their own, by gas limit times fee and not by what it will use.
 */
export async function readFeeBudget({ relayer, limits }: RelayContext): Promise<bigint> {
  const balanceWei = await relayer.readGasBalance();
  const isCapped = balanceWei > limits.maximumTransactionFeeWei;
  return isCapped ? limits.maximumTransactionFeeWei : balanceWei;
}

/**
 * The first of these payments that can be released together, with the gas for it: all, or where that would fail as a
 * whole, the first half, a quarter, and so on; and no more than the budget pays for. Throws `CallRevertedError` where
 * the first payment fails alone, and `TransactionRefusedError` where the budget does not cover it alone. Throws
 * `ChainUnavailableError` when the estimate fails for another reason; as some nodes say in this way that a call is too
 * large for them, the next batch is half as large.
 */
export async function shrinkToGasLimit(
  context: RelayContext,
  payments: readonly Payment[],
  { fees, budgetWei }: FeeBounds,
): Promise<ShrunkBatch> {
  let hasReverted = false;
  for (let size = payments.length; ; ) {
    const fitting = payments.slice(0, size);
    const estimate = await estimateRelease(context, fitting);
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
    // A transaction has a fixed part: proportionally fewer payments may still cost a little too much.
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

function unaffordableError({ relayer, limits }: RelayContext, costWei: bigint, budgetWei: bigint): Error {
  const bound =
    budgetWei < limits.maximumTransactionFeeWei
      ? `insufficient funds for gas: relayer ${relayer.address} can spend ${budgetWei} wei`
      : `RELAY_MAX_FEE_POL allows ${budgetWei} wei`;
  return new TransactionRefusedError(`${bound}, and one release may cost ${costWei} wei`);
}

/** Records the size of a batch. After a success at once the next may be twice as large, unless nodes have just refused a larger one. */
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
  memory.largestBatch = twice < limits.batchSize ? twice : null;
}
