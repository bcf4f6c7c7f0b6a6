import type { Payment } from '../../payment/payment.ts';
import type { PagePayment, PaymentPage, UsedPage } from './payment-page.ts';

export interface PageOfPayment extends Pick<PaymentPage, 'slug' | 'title'> {
  readonly pageId: string;
  readonly answer: string | null;
}

/** The takings of pages change with their payments, in the same transaction. */
export interface PaymentPageStore {
  /** Writes nothing if another page has the slug or the account has `MAXIMUM_PAGES`. */
  createPage(page: PaymentPage): Promise<'created' | 'slug_taken' | 'too_many'>;
  changePage(accountId: string, id: string, change: Partial<PaymentPage>): Promise<PaymentPage | null>;
  findPage(accountId: string, id: string, nowMs: number): Promise<UsedPage | null>;
  findPageBySlug(slug: string, nowMs: number): Promise<UsedPage | null>;
  /** The account's pages, newest first. */
  listPages(accountId: string, nowMs: number): Promise<readonly UsedPage[]>;
  /**
   * Stores a payment of a page with its submission, or resolves to the earlier one of the same submission.
   * `requireOpen` decides, serialized per page; its error rolls back. Null if the payout address is a deposit address.
   */
  createPagePayment(
    payment: Payment,
    pagePayment: PagePayment,
    requireOpen: (used: UsedPage) => void,
  ): Promise<Payment | null>;
  findSubmission(pagePayment: Pick<PagePayment, 'pageId' | 'submission'>): Promise<Payment | null>;
  /** Pages of an account's payments, by payment id; omits payments without a page. */
  listPagesOf(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, PageOfPayment>>;
}
