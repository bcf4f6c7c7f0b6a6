import type { Payment } from '../../domain/payment.ts';
import { RETRY_AFTER_EMPTY_MS } from '../../domain/release-delays.ts';
import { refuseRelease, settle } from '../../domain/settle.ts';
import type { RelayContext } from './relay-context.ts';

const SIMULATIONS_AT_A_TIME = 10;

/** Simulates each release; what the token refuses is recorded with its reason and tried again later. */
export async function keepReleasable(
  context: RelayContext,
  payments: readonly Payment[],
): Promise<Payment[]> {
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
