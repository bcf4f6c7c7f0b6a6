import { createHash } from 'node:crypto';
import type { Account } from '../domain/account.ts';
import type { Payment } from '../domain/payment.ts';
import type { ReusablePageStore } from '../domain/ports/reusable-page-store.ts';
import { MULTI_PROVIDER } from '../domain/provider-catalogue.ts';
import {
  HOLD_MS,
  type PageState,
  pageStateAt,
  payoutAddressOf,
  type ReusablePage,
  type UsedPage,
} from '../domain/reusable-page.ts';
import { type CreatePaymentContext, createPayment } from './create-payment.ts';

export interface PayOnPageContext {
  readonly reusablePages: Pick<ReusablePageStore, 'findSubmission' | 'createPagePayment'>;
  readonly create: CreatePaymentContext;
}

/** A page as a request found it. */
export interface FoundPage {
  readonly page: ReusablePage;
  readonly account: Account;
  readonly state: PageState;
}

/** What a customer typed on a page, and found good. */
export interface PageSubmission {
  /** Random text of the form that was shown. */
  readonly token: string;
  readonly amountCents: number;
  readonly answer: string | null;
}

/** The page takes no payment at this moment; `state` is never `open`. */
export class PageClosedError extends Error {
  override readonly name = 'PageClosedError';
  readonly state: PageState;

  constructor(state: PageState) {
    super(`the page is ${state}`);
    this.state = state;
  }
}

/**
 * Creates a payment under the rules of the API. The same form with the same values leads to the same payment, however
 * often and however concurrently it is sent. Throws `PageClosedError` and `ServiceError`.
 */
export async function payOnPage(
  { reusablePages, create }: PayOnPageContext,
  { page, account, state }: FoundPage,
  { token, amountCents, answer }: PageSubmission,
): Promise<Payment> {
  const submission = createHash('sha256')
    .update(JSON.stringify([token, amountCents, answer]))
    .digest('hex');
  const key = { accountId: page.accountId, pageId: page.id, submission };
  const earlier = await reusablePages.findSubmission(key);
  if (earlier !== null) return earlier;
  const payoutAddress = payoutAddressOf(page, account);
  if (state !== 'open' || payoutAddress === null) throw new PageClosedError(state);
  let stored: Payment | null = null;
  // The place of the stock is taken in the transaction that stores the payment.
  const payments: CreatePaymentContext['payments'] = {
    ...create.payments,
    async createPayment(payment) {
      const pagePayment = {
        ...key,
        paymentId: payment.id,
        answer,
        heldUntilMs: payment.createdAtMs + HOLD_MS,
      };
      stored = await reusablePages.createPagePayment(payment, pagePayment, (used) =>
        requireOpen(used, account, payment.createdAtMs),
      );
      return { kind: 'created', row: null };
    },
  };
  const payment = await createPayment({ ...create, payments }, account, {
    payoutAddress,
    callbackUrl: account.defaultCallbackUrl ?? page.callbackUrl,
    amountCents,
    currency: page.currency,
    passFeeToCustomer: page.passFeeToCustomer,
    provider: MULTI_PROVIDER,
    email: null,
    note: null,
    idempotencyKey: null,
    order: { orderLine: page.orderLine ?? page.title, origin: page.id },
  });
  return stored ?? payment;
}

function requireOpen(used: UsedPage, account: Account, nowMs: number): void {
  const state = pageStateAt(used, account, nowMs);
  if (state !== 'open') throw new PageClosedError(state);
}
