import type { Payment } from '../../domain/payment.ts';
import { CallRevertedError, ChainUnavailableError } from '../../domain/ports/chain.ts';
import { refuseRelease } from '../../domain/settle.ts';
import type { RelayContext } from './relay-context.ts';
import { forwardCall } from './sign-attempt.ts';

/** Payments that can share a transaction, and the gas it needs. */
export interface FittedBatch {
  readonly payments: readonly Payment[];
  readonly gasLimit: bigint;
}

/**
 * The first of these payments that can be released together, with the gas for it: all, or where that would fail as a
 * whole, the first half, a quarter, and so on. A payment that fails alone is put off and null returned, so that the
 * next batch is without it. Throws `ChainUnavailableError` when the estimate fails for another reason; as some nodes
 * say in this way that a call is too large for them, the next batch is half as large.
 */
export async function fitBatch(
  context: RelayContext,
  payments: readonly Payment[],
): Promise<FittedBatch | null> {
  for (let size = payments.length; ; size = Math.ceil(size / 2)) {
    const fitting = payments.slice(0, size);
    const estimate = await estimateRelease(context, fitting);
    if (typeof estimate === 'bigint') {
      rememberSize(context, payments.length, size);
      return { payments: fitting, gasLimit: estimate };
    }
    if (size === 1) {
      await putOff(context, fitting[0] as Payment, estimate.message);
      return null;
    }
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

/** After a success at once the next batch may be twice as large again. */
function rememberSize({ memory, limits, onIncident }: RelayContext, asked: number, fitting: number): void {
  if (fitting < asked) {
    memory.largestBatch = fitting;
    onIncident({ kind: 'halved_batch', fromPayments: asked, toPayments: fitting });
  } else if (memory.largestBatch !== null) {
    const twice = memory.largestBatch * 2;
    memory.largestBatch = twice < limits.batchSize ? twice : null;
  }
}

async function putOff(context: RelayContext, payment: Payment, reason: string): Promise<void> {
  const settleContext = { nowMs: context.nowMs(), expiredBeforeMs: null };
  await context.payments.decidePayment(payment, (view) => refuseRelease(view, settleContext, reason));
}
