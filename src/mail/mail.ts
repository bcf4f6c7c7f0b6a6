import type { PaymentId, PaymentReference } from '../payment/payment.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same as HTML, for mail programs that show it. */
  readonly html?: string;
  /** Pictures that the HTML shows, as `cid:`. */
  readonly inline?: readonly { readonly cid: string; readonly png: Uint8Array }[];
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

/** A mail that is sent now. `email` is an address that a customer gave on the page; null means the payment's own. */
export interface ClaimedReceipt {
  readonly id: PaymentId;
  readonly email: string | null;
  /** Language of the page on which the address was given. */
  readonly language: string | null;
}

export type ReceiptStatus = 'wanted' | 'pending' | 'sending' | ReceiptEnding;

/**
 * Mails to customers about the end of their payment, at most one per payment: wanted → pending → sending → sent | failed.
 * Queued in the transaction in which a payment with an address becomes paid. Without an address, a customer can ask for
 * one, and it is queued in the transaction that ends the payment. That address is used once and then erased. A mail that
 * a crash leaves in `sending` may have been sent, and is never sent again.
 */
export interface ReceiptStore {
  /** Durably moves the oldest `limit` mails queued at `sinceMs` or later to `sending`; each is claimed once. */
  claimReceipts(sinceMs: number, limit: number, nowMs: number): Promise<readonly ClaimedReceipt[]>;
  /** Records the outcome. `pending` is for a mail that was certainly not sent, so that it is claimed again. */
  recordReceipt(id: PaymentId, ending: ReceiptEnding, nowMs: number): Promise<void>;
  /**
   * Stores the address that a customer gave, in place of an earlier one. Queues the mail at once if the payment has ended.
   * Does nothing if a mail was already sent, or if the payment has its own email address.
   */
  askForReceipt(
    id: PaymentId,
    customer: Readonly<{ email: string; language: string }>,
    nowMs: number,
  ): Promise<void>;
  findReceiptStatus(id: PaymentId): Promise<ReceiptStatus | null>;
  /** Queues what an older version left, then erases at most `limit` addresses: queued before `sentByMs`, or given too early. */
  eraseAddresses(nowMs: number, sentByMs: number, givenBeforeMs: number, limit: number): Promise<number>;
}

export type ReceiptEnding = 'sent' | 'failed' | 'pending';
