import type { PaymentReference } from '../payment.ts';

/**
 * `none`: the payment has no address (any more). `busy`: a webhook of it is being sent at this moment, and would be
 * recorded with the address afterwards. `unknown`: there is no such payment.
 */
export type EmailErasure = 'erased' | 'none' | 'busy' | 'unknown';

/** What became of one step through an account's old payments. */
export interface EmailErasureStep {
  /** Addresses that were erased. */
  readonly erased: number;
  /** Whether another step at once would find more to look at. */
  readonly hasMore: boolean;
  /**
   * Why it stopped before the end, to be tried again later: `webhook`, because the next payment is `busy`, or `index`,
   * because some of the payments are not in the account's table yet. Null where nothing was in the way.
   */
  readonly stoppedBy: 'webhook' | 'index' | null;
}

/** The end of customers' e-mail addresses. */
export interface EmailStore {
  /**
   * Erases the address of a payment's customer, and what was derived from it: what the payment is found by, the
   * addresses of its provider sessions, its webhooks as they were recorded. All or nothing of it.
   */
  eraseEmail(payment: PaymentReference): Promise<EmailErasure>;
  /**
   * Erases those of an account's payments that were created before a time, from where the last call stopped, looking at
   * so many payments. Stops before one that is `busy`, which the result says.
   */
  eraseEmailsBefore(accountId: string, beforeMs: number, limit: number): Promise<EmailErasureStep>;
}
