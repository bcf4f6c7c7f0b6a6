import type { Payment } from '../../payment/payment.ts';
import type { PagePayment, ReusablePage, UsedPage } from './payment-page.ts';

/** The page that a payment was made on, as lists and exports name it. */
export interface PageOfPayment extends Pick<ReusablePage, 'slug' | 'title'> {
  readonly pageId: string;
  readonly answer: string | null;
}

/** Pages on which customers make payments. Their takings change with their payments, in the same transaction. */
export interface ReusablePageStore {
  /** Nothing is written where another page has the slug, or the account has `MAXIMUM_PAGES`. */
  createPage(page: ReusablePage): Promise<'created' | 'slug_taken' | 'too_many'>;
  /** Null where the account has no such page. */
  changePage(accountId: string, id: string, change: Partial<ReusablePage>): Promise<ReusablePage | null>;
  findPage(accountId: string, id: string, nowMs: number): Promise<UsedPage | null>;
  /** Of any account. */
  findPageBySlug(slug: string, nowMs: number): Promise<UsedPage | null>;
  /** The account's pages, the newest first. */
  listPages(accountId: string, nowMs: number): Promise<readonly UsedPage[]>;
  /**
   * Stores a payment of a page with its submission. Resolves to the earlier payment where the submission made one, also
   * under concurrent calls. Otherwise `requireOpen` decides on the page as it is without this payment, one call after the
   * other for each page; what it throws undoes the transaction. Null, and nothing is stored, where the payout address is
   * the deposit address of a payment.
   */
  createPagePayment(
    payment: Payment,
    pagePayment: PagePayment,
    requireOpen: (used: UsedPage) => void,
  ): Promise<Payment | null>;
  /** The payment that a submission made. */
  findSubmission(pagePayment: Pick<PagePayment, 'pageId' | 'submission'>): Promise<Payment | null>;
  /** The pages of those of an account's payments that were made on one, by the payments' ids. */
  listPagesOf(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, PageOfPayment>>;
}
