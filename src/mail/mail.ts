import type { PaymentId, PaymentReference } from '../payment/payment.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /**
   * Resolves once the mail server has accepted the mail, within a bounded time. Never retries. Throws
   * `MailNotSentError` if the mail was certainly not sent, and any other error if that is unknown. Background mails
   * leave room for those that a user waits for, such as a sign-in link.
   */
  send(mail: Mail, options?: { readonly isBackground?: boolean }): Promise<void>;
}

/** The mail server did not receive the mail, so it may be sent again. */
export class MailNotSentError extends Error {
  override readonly name = 'MailNotSentError';
}

/**
 * `none`: the payment has neither an address nor an answer. `busy`: one of its webhooks is being sent, and would be
 * recorded with the address after the erasure. `unknown`: there is no such payment.
 */
export type EmailErasure = 'erased' | 'none' | 'busy' | 'unknown';

export interface EmailErasureStep {
  readonly erased: number;
  /** Whether another step would find more to erase now. */
  readonly hasMore: boolean;
  /** Set when the next payment is `busy`, so that the step is repeated later; otherwise null. */
  readonly stoppedBy: 'webhook' | null;
}

export interface EmailStore {
  /**
   * Erases the address of a payment's customer and everything derived from it: search terms, addresses of provider
   * sessions, recorded webhooks, and the customer's answer to a payment page's question, which a payment without an
   * address may have too. All or nothing.
   */
  eraseEmail(payment: PaymentReference): Promise<EmailErasure>;
  /**
   * Erases addresses of an account's payments created before a time. Continues where the last call stopped, checks at
   * most `limit` payments, and stops before one that is `busy`.
   */
  eraseEmailsBefore(accountId: string, beforeMs: number, limit: number): Promise<EmailErasureStep>;
}

/**
 * Receipts by email, queued in the transaction that made their payment paid: pending → sending → sent | failed. A
 * receipt that a crash leaves in `sending` may have been sent, and is never sent again.
 */
export interface ReceiptStore {
  /** Durably moves the oldest `limit` receipts queued at `sinceMs` or later to `sending`; each is claimed once. */
  claimReceipts(sinceMs: number, limit: number, nowMs: number): Promise<readonly PaymentId[]>;
  /** Records the outcome. `pending` is for a receipt that was certainly not sent, so that it is claimed again. */
  recordReceipt(id: PaymentId, ending: ReceiptEnding, nowMs: number): Promise<void>;
}

export type ReceiptEnding = 'sent' | 'failed' | 'pending';
