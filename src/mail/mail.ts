import type { PaymentId, PaymentReference } from '../payment/payment.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Pictures that the HTML refers to by `cid:`. */
  readonly inline?: readonly { readonly cid: string; readonly png: Uint8Array }[];
}

export interface Mailer {
  /**
   * Resolves once the mail server has accepted the mail. Throws `MailNotSentError` if it was certainly not sent, and
   * any other error if that is unknown. Background mails leave room for those that a user waits for.
   */
  send(mail: Mail, options?: { readonly isBackground?: boolean }): Promise<void>;
}

/** Thrown when the mail server did not receive the mail, so that a retry cannot send the mail twice. */
export class MailNotSentError extends Error {}

/** `none`: nothing to erase. `busy`: a webhook with the address is being sent, and its body will be recorded. */
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
   * Erases the email address of a payment's customer and everything derived from it, all or nothing. Also erases the
   * answer to a payment page's question, which a payment without an address may have, too.
   */
  eraseEmail(payment: PaymentReference): Promise<EmailErasure>;
  /** Erases an email address (in lower case) that a customer of the account gave for one mail, and the mail itself. */
  eraseReceiptAddress(accountId: string, email: string): Promise<void>;
  /**
   * Erases addresses of older payments. Continues where the last call stopped, up to `limit` or a `busy` one. A null
   * account means all accounts, and also erases notes, provider URLs, and the bodies and answers of webhooks.
   */
  eraseEmailsBefore(accountId: string | null, beforeMs: number, limit: number): Promise<EmailErasureStep>;
}

/** Mail claimed for sending. `email` is the address given on the page; null for the payment's own. */
export interface ClaimedReceipt {
  readonly id: PaymentId;
  readonly email: string | null;
  /** Language of the page on which the address was given. */
  readonly language: string | null;
}

export type ReceiptStatus = 'wanted' | 'pending' | 'sending' | ReceiptEnding;

/**
 * Mails about the end of a payment, at most one each: wanted → pending → sending → sent | failed. For a payment with an
 * address, the mail is queued in the transaction that makes it paid. Otherwise, it is queued in the one that ends it if
 * the customer asked for it. A mail that a crash leaves in `sending` may have been sent, so it is never sent again.
 */
export interface ReceiptStore {
  /** Durably moves the oldest `limit` mails queued at `sinceMs` or later to `sending`. Each is claimed once. */
  claimReceipts(sinceMs: number, limit: number, nowMs: number): Promise<readonly ClaimedReceipt[]>;
  /** Records the outcome. `pending` is for a mail that was certainly not sent, so that it is claimed again. */
  recordReceipt(id: PaymentId, ending: ReceiptEnding, nowMs: number): Promise<void>;
  /** Stores the address that a customer gave, and queues the mail if the payment has ended, unless one was sent. */
  askForReceipt(
    id: PaymentId,
    customer: Readonly<{ email: string; language: string }>,
    nowMs: number,
  ): Promise<void>;
  findReceiptStatus(id: PaymentId): Promise<ReceiptStatus | null>;
  /** Queues older versions' mails. Erases up to `limit` addresses queued by `sentByMs` or given by `givenBeforeMs`. */
  eraseAddresses(nowMs: number, sentByMs: number, givenBeforeMs: number, limit: number): Promise<number>;
}

export type ReceiptEnding = 'sent' | 'failed' | 'pending';
