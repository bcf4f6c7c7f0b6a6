import type { PaymentId, PaymentReference } from '../payment/payment.ts';

/** One email in plain text, to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends email; absent where none is configured. */
export interface Mailer {
  /**
   * Resolves once the mail server has accepted the mail, within a bounded time. Never sends twice by itself. Throws
   * `MailNotSentError` if it was certainly not sent, and any other error if that is unknown. Background mails yield to
   * those that a user waits for, such as a sign-in link.
   */
  send(mail: Mail, options?: { readonly isBackground?: boolean }): Promise<void>;
}

/** The mail server never received the mail, which may be retried. */
export class MailNotSentError extends Error {
  override readonly name = 'MailNotSentError';
}

/**
 * `none`: the payment has neither address nor answer. `busy`: one of its webhooks is being sent, and would be recorded
 * with the address afterwards. `unknown`: there is no such payment.
 */
export type EmailErasure = 'erased' | 'none' | 'busy' | 'unknown';

/** Result of one step through an account's old payments. */
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
   * sessions, recorded webhooks, and the answer to a payment page's question, even without an address. All or nothing.
   */
  eraseEmail(payment: PaymentReference): Promise<EmailErasure>;
  /**
   * Erases those of an account's payments created before a time, from where the last call stopped, checking at most
   * `limit` payments. Stops before one that is `busy`.
   */
  eraseEmailsBefore(accountId: string, beforeMs: number, limit: number): Promise<EmailErasureStep>;
}

/**
 * Receipts by email, queued in the transaction that made their payment paid: pending → sending → sent | failed. A
 * receipt that a crash leaves in `sending` may have been sent, and is never sent again.
 */
export interface ReceiptStore {
  /**
   * Durably moves the oldest `limit` receipts that wait since `sinceMs` or later to `sending`; each is claimed once.
   */
  claimReceipts(sinceMs: number, limit: number, nowMs: number): Promise<readonly PaymentId[]>;
  /** Records the outcome; `pending` for a receipt that was certainly not sent and is claimed again. */
  recordReceipt(id: PaymentId, ending: ReceiptEnding, nowMs: number): Promise<void>;
}

export type ReceiptEnding = 'sent' | 'failed' | 'pending';
