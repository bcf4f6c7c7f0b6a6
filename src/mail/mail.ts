import type { PaymentId, PaymentReference } from '../payment/payment.ts';

/** One email in plain text, to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends email. Where none is configured there is no mailer at all. */
export interface Mailer {
  /**
   * Resolves once the mail server has taken the mail over, within a bounded time. Never sends twice by itself. Throws
   * `MailNotSentError` where it certainly was not sent, and any other error where it is unknown. In the background it
   * gives way to mails that a user waits for, such as a sign-in link.
   */
  send(mail: Mail, options?: { readonly isBackground?: boolean }): Promise<void>;
}

/** The mail server was never given the mail: it may be tried again. */
export class MailNotSentError extends Error {
  override readonly name = 'MailNotSentError';
}

/**
 * `none`: the payment has neither address nor answer (any more). `busy`: a webhook of it is being sent at this moment, and would be
 * recorded with the address afterwards. `unknown`: there is no such payment.
 */
export type EmailErasure = 'erased' | 'none' | 'busy' | 'unknown';

/** The result of one step through an account's old payments. */
export interface EmailErasureStep {
  /** Addresses that were erased. */
  readonly erased: number;
  /** Whether another step at once would find more to erase. */
  readonly hasMore: boolean;
  /** Why it stopped before the end, to be tried again later: the next payment is `busy`. Null where nothing was in the way. */
  readonly stoppedBy: 'webhook' | null;
}

export interface EmailStore {
  /**
   * Erases the address of a payment's customer, and what was derived from it: what the payment is found by, the
   * addresses of its provider sessions, its webhooks as they were recorded. With it goes the customer's answer to a
   * reusable page's question, also where there is no address. All or nothing of it.
   */
  eraseEmail(payment: PaymentReference): Promise<EmailErasure>;
  /**
   * Erases those of an account's payments that were created before a time, from where the last call stopped, looking at
   * so many payments. Stops before one that is `busy`, which the result says.
   */
  eraseEmailsBefore(accountId: string, beforeMs: number, limit: number): Promise<EmailErasureStep>;
}

/**
 * Receipts by email, queued in the transaction that made their payment paid: pending → sending → sent | failed. A
 * receipt that a crash leaves in `sending` was perhaps sent, and is never sent again.
 */
export interface ReceiptStore {
  /** Durably moves the oldest `limit` receipts that wait since `sinceMs` or later to `sending`; each is claimed once. */
  claimReceipts(sinceMs: number, limit: number, nowMs: number): Promise<readonly PaymentId[]>;
  /** Records how sending ended; `pending` for one that certainly was not sent and is to be claimed again. */
  recordReceipt(id: PaymentId, ending: ReceiptEnding, nowMs: number): Promise<void>;
}

export type ReceiptEnding = 'sent' | 'failed' | 'pending';

/** `webhooks`: events that did not arrive or whose delivery is unknown. `payments`: money that needs attention. */
export const alertKinds = ['webhooks', 'payments'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Failures in an account since its owners were last notified. */
export interface Alert {
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly count: number;
  /** Time of the first failure. */
  readonly sinceMs: number;
  /** Time of the owners' last notification; 0 for never. */
  readonly notifiedAtMs: number;
}

/** Alerts that owners still have to receive. */
export interface AlertStore {
  /**
   * Adds up what went wrong since the last call and no later than `throughMs`, but nothing from before `earliestMs`.
   * What the first call finds is old, and counts as known.
   */
  recordAlerts(earliestMs: number, throughMs: number): Promise<void>;
  /** Takes alerts of accounts whose owners were notified of the kind before `notifiedBeforeMs` or never, each for one caller. */
  claimAlerts(notifiedBeforeMs: number, limit: number, nowMs: number): Promise<readonly Alert[]>;
  /** Returns a claimed alert for which no mail was sent. */
  returnAlert(alert: Alert): Promise<void>;
}
