import { isDirect } from './payment.ts';
import { stateOf } from './payment-states.ts';
import type { PaymentDecision, PaymentView } from './ports/payment-store.ts';
import { type SettleContext, settle, sumLedger } from './settle.ts';

/**
 * The decision after the chain was read. As `settle`, and it brings a payment that waits for money back to the expiry step,
 * which may have passed it: while a direct payment's deposit was seen and not final yet, or while the address held money
 * that the logs had not shown. Nothing in the state of such a payment tells of it.
 */
export function settleScanned(
  view: PaymentView,
  { nowMs }: Pick<SettleContext, 'nowMs'>,
): PaymentDecision | null {
  const decision = settle(view, { nowMs, expiredBeforeMs: null });
  const payment = { ...view.payment, ...decision?.change };
  const { seenUnits } = sumLedger(view.ledger);
  const isWaiting = stateOf(payment) === 'unpaid/pending' && seenUnits < payment.enoughUnits;
  const mayHaveBeenPassed = isWaiting && (isDirect(payment) || seenUnits > 0n);
  return mayHaveBeenPassed ? { change: {}, ...decision, revisitExpiry: true } : decision;
}
