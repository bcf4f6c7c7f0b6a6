import { randomBytes } from 'node:crypto';
import type { Account } from '../../accounts/account.ts';
import type { Address } from '../../payment/address.ts';
import { invalidField } from '../../payment/errors.ts';
import {
  BASIS_POINTS,
  type Currency,
  MAXIMUM_AMOUNT_CENTS,
  MINIMUM_AMOUNT_CENTS,
} from '../../payment/money.ts';
import type { Payment } from '../../payment/payment.ts';

/** Page at a fixed URL for any number of payments. Payments that are paid after `HOLD_MS` can exceed the stock. */
export interface PaymentPage {
  readonly id: string;
  readonly accountId: string;
  /** Path after `/p/`, unique in the service. The slug never changes, because printed QR codes contain the URL. */
  readonly slug: string;
  readonly title: string;
  /** Description on the checkout page; null to use the title. */
  readonly orderLine: string | null;
  readonly currency: Currency;
  readonly amountCents: number | null;
  /** Bounds for the customer's amount; null for the service's limits. */
  readonly minimumCents: number | null;
  readonly maximumCents: number | null;
  readonly passFeeToCustomer: boolean;
  /** Payout wallet, used only if the account has none. */
  readonly payoutAddress: Address | null;
  /** Callback URL, used only if the account has no default; null to send no webhooks. */
  readonly callbackUrl: string | null;
  readonly endsAtMs: number | null;
  readonly stock: number | null;
  readonly question: string | null;
  readonly isAnswerRequired: boolean;
  readonly isPaused: boolean;
  readonly createdAtMs: number;
}

export interface UsedPage {
  readonly page: PaymentPage;
  readonly paid: number;
  /** Sum received when the page's payments became paid, in 10⁻⁶ USDC units. */
  readonly receivedUnits: bigint;
  readonly held: number;
}

export interface PagePayment {
  readonly paymentId: string;
  readonly pageId: string;
  /** Hash of the form's token and values, so that a repeated submission returns the same payment. */
  readonly submission: string;
  /** Customer's answer to the page's question. As personal data, it is erased with the email address. */
  readonly answer: string | null;
  /** Time until which an unpaid payment holds stock; null once it is paid or canceled. */
  readonly heldUntilMs: number | null;
}

export const HOLD_MINUTES = 30;
export const HOLD_MS = HOLD_MINUTES * 60_000;
/** Maximum number of unpaid payments of a page younger than `HOLD_MS`, even for a page without a stock. */
export const MAXIMUM_HELD = 500;
export const MAXIMUM_PAGES = 100;
const MAXIMUM_STOCK = 100_000;
export const TITLE_CHARACTERS = 80;
export const QUESTION_CHARACTERS = 120;
export const ANSWER_CHARACTERS = 200;

/** State of a page. `reserved`: unpaid payments hold the rest of the stock. `busy`: it has `MAXIMUM_HELD` of them. */
export type PageState = 'open' | 'busy' | ClosedState;
export type ClosedState = 'paused' | 'ended' | 'sold_out' | 'reserved';

/** Returns a page's state. A page whose account cannot accept its payments is also `paused`. */
export function pageStateAt(used: UsedPage, account: Account, nowMs: number): PageState {
  const { page, paid, held } = used;
  const canReceive =
    !account.suspended &&
    account.features.includes('card_checkout') &&
    (!page.passFeeToCustomer || account.features.includes('fee_pass_through')) &&
    payoutAddressOf(page, account) !== null;
  if (page.isPaused || !canReceive) return 'paused';
  if (page.endsAtMs !== null && page.endsAtMs <= nowMs) return 'ended';
  if (page.stock !== null && paid >= page.stock) return 'sold_out';
  if (leftOf(used) === 0) return 'reserved';
  return held >= MAXIMUM_HELD ? 'busy' : 'open';
}

export function payoutAddressOf(page: PaymentPage, account: Account): Address | null {
  return account.wallet ?? page.payoutAddress;
}

/** Returns how many payments exceed the stock, because they were paid after their hold had ended. */
export function oversoldOf({ page, paid }: UsedPage): number {
  return page.stock === null ? 0 : Math.max(0, paid - page.stock);
}

export function leftOf({ page, paid, held }: UsedPage): number | null {
  return page.stock === null ? null : Math.max(0, page.stock - paid - held);
}

/** Returns the bounds of the customer's amount. If the fee is added, the maximum is lower. */
export function amountBoundsOf(
  page: Pick<PaymentPage, 'minimumCents' | 'maximumCents' | 'passFeeToCustomer'>,
  { feeBasisPoints }: Pick<Account, 'feeBasisPoints'>,
) {
  const basisPoints = BASIS_POINTS - (page.passFeeToCustomer ? feeBasisPoints : 0);
  const highest = Math.floor((MAXIMUM_AMOUNT_CENTS * basisPoints) / BASIS_POINTS);
  return {
    minimumCents: page.minimumCents ?? MINIMUM_AMOUNT_CENTS,
    maximumCents: Math.min(page.maximumCents ?? highest, highest),
  };
}

const roundUnits = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

/** Returns up to four round amounts in cents. If the bounds admit fewer than two, adds the bounds themselves. */
export function suggestedAmounts(
  { minimumCents, maximumCents }: ReturnType<typeof amountBoundsOf>,
  currency: Currency,
): readonly number[] {
  const round = roundUnits
    .map((units) => units * 100)
    .filter((cents) => cents >= minimumCents && cents <= maximumCents);
  if (round.length < 2) return [...new Set([minimumCents, ...round, maximumCents])];
  const usual = round.filter((cents) => cents >= (currency === 'INR' ? 10_000 : 1_000));
  return usual.length < 4 ? round.slice(-4) : usual.slice(0, 4);
}

const slugForm = /^[a-z0-9](?:[a-z0-9-]{1,62}[a-z0-9])$/;

export function isSlug(text: string): boolean {
  return slugForm.test(text);
}

/** Parses a slug; empty text gives a random slug. Throws `invalid_request` for other text. */
export function parseSlug(typed: string): string {
  const slug = typed.trim().toLowerCase();
  if (slug === '') return randomBytes(10).toString('hex');
  if (isSlug(slug)) return slug;
  throw invalidField(
    'slug',
    'must be 3 to 64 letters a to z, digits and hyphens, without a hyphen at its beginning or end',
  );
}

/** Parses a stock; null for empty text. Throws `invalid_request` for other text. */
export function parseStock(typed: string): number | null {
  const text = typed.trim();
  if (text === '') return null;
  const stock = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (stock >= 1 && stock <= MAXIMUM_STOCK) return stock;
  throw invalidField('stock', `must be a whole number from 1 to ${MAXIMUM_STOCK}`);
}

export interface PageOfPayment extends Pick<PaymentPage, 'slug' | 'title'> {
  readonly pageId: string;
  readonly answer: string | null;
}

/** Store of pages. A page's number of paid payments and sum change in the same transactions as the payments. */
export interface PaymentPageStore {
  /** Creates a page unless the slug is taken or the account has `MAXIMUM_PAGES`. */
  createPage(page: PaymentPage): Promise<'created' | 'slug_taken' | 'too_many'>;
  changePage(accountId: string, id: string, change: Partial<PaymentPage>): Promise<PaymentPage | null>;
  findPage(accountId: string, id: string, nowMs: number): Promise<UsedPage | null>;
  findPageBySlug(slug: string, nowMs: number): Promise<UsedPage | null>;
  listPages(accountId: string, nowMs: number): Promise<readonly UsedPage[]>;
  /**
   * Stores a payment with its submission, or resolves to the earlier payment of the submission. Resolves to null if the
   * payout address is a deposit address. Rolls back if `requireOpen` throws. Serializes all calls for a page.
   */
  createPagePayment(
    payment: Payment,
    pagePayment: PagePayment,
    requireOpen: (used: UsedPage) => void,
  ): Promise<Payment | null>;
  findSubmission(pagePayment: Pick<PagePayment, 'pageId' | 'submission'>): Promise<Payment | null>;
  /** Returns the pages of payments by payment id. Omits payments without a page. */
  listPagesOf(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, PageOfPayment>>;
}
