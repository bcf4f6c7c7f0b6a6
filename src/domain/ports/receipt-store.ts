import type { PaymentReference } from '../payment.ts';

/**
 * Receipts by e-mail, queued in the transaction that made their payment paid: pending → sending → sent | failed. A
 * receipt that a crash leaves in `sending` was perhaps sent, and is never sent again.
 */
export interface ReceiptStore {
  /** Durably moves the oldest `limit` receipts that wait since `sinceMs` or later to `sending`; each is claimed once. */
  claimReceipts(sinceMs: number, limit: number, nowMs: number): Promise<readonly PaymentReference[]>;
  /** Records how sending ended; `pending` for one that certainly was not sent and is to be claimed again. */
  recordReceipt(payment: PaymentReference, ending: ReceiptEnding, nowMs: number): Promise<void>;
}

export type ReceiptEnding = 'sent' | 'failed' | 'pending';
