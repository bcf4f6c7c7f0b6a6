import type { Payment } from './payment.ts';
import type { ProviderSession } from './provider-session.ts';

/** Statuses of a payment as merchants see them. Before a deposit arrives, the last session determines the status. */
export const displayStatuses = [
  'open',
  'at_provider',
  'declined',
  'partially_paid',
  'overpaid',
  'paid',
  'expired',
  'canceled',
] as const;
export type DisplayStatus = (typeof displayStatuses)[number];

/** @param session the payment's last session */
export function displayStatusOf(
  payment: Pick<Payment, 'status' | 'forwardStatus' | 'amountMismatch' | 'cancelReason'>,
  session: Pick<ProviderSession, 'progress' | 'expiresAtMs'> | undefined,
  nowMs: number,
): DisplayStatus {
  if (payment.amountMismatch !== null) return payment.amountMismatch;
  if (payment.status === 'canceled') return payment.cancelReason === 'expired' ? 'expired' : 'canceled';
  if (payment.status === 'paid') return 'paid';
  if (payment.forwardStatus !== 'pending' || session === undefined) return 'open';
  if (session.progress === 'failed') return 'declined';
  return session.expiresAtMs > nowMs || session.progress === 'delivering' ? 'at_provider' : 'open';
}
