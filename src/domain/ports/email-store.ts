import type { PaymentReference } from '../payment.ts';

/**
 * `none`: the payment has no address (any more). `busy`: a webhook of it is being sent at this moment, and would be
 * recorded with the address afterwards. `unknown`: there is no such payment.
 */
export type EmailErasure = 'erased' | 'none' | 'busy' | 'unknown';

/** The end of customers' e-mail addresses. */
export interface EmailStore {
  /**
   * Erases the address of a payment's customer, and what was derived from it: what the payment is found by, the
   * addresses of its provider sessions, its webhooks as they were recorded. All or nothing of it.
   */
  eraseEmail(payment: PaymentReference): Promise<EmailErasure>;
  /**
   * Erases those of an account's payments that were created before a time, from where the last call stopped, looking at
   * so many payments. Stops before one that is `busy`.
   */
  eraseEmailsBefore(
    accountId: string,
    beforeMs: number,
    limit: number,
  ): Promise<{ readonly erased: number; readonly hasMore: boolean }>;
}
