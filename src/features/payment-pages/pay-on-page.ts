import type { Account } from '../../accounts/account.ts';
import { type CreatePaymentContext, createPayment, fingerprintOf } from '../../payment/create-payment.ts';
import { ServiceError } from '../../payment/errors.ts';
import type { Payment } from '../../payment/payment.ts';
import { MULTI_PROVIDER } from '../../payment/provider-catalog.ts';
import {
  type ClosedState,
  HOLD_MS,
  type PageState,
  type PaymentPage,
  type PaymentPageStore,
  pageStateAt,
  payoutAddressOf,
} from './payment-page.ts';

export interface PayOnPageContext {
  readonly paymentPages: Pick<PaymentPageStore, 'findSubmission' | 'createPagePayment'>;
  readonly create: CreatePaymentContext;
}

export interface FoundPage {
  readonly page: PaymentPage;
  readonly account: Account;
  readonly state: PageState;
  readonly left: number | null;
}

export interface PageSubmission {
  readonly token: string;
  readonly amountCents: number;
  readonly answer: string | null;
}

export class PageClosedError extends Error {
  readonly state: ClosedState;

  constructor(state: ClosedState) {
    super(`the page is ${state}`);
    this.state = state;
  }
}

/** Retry delay for a page with its maximum of unpaid payments. */
const BUSY_SECONDS = 300;

/** Creates a payment like the API, or returns that of a repeated form. Also throws `PageClosedError`. */
export async function payOnPage(
  { paymentPages, create }: PayOnPageContext,
  { page, account, state }: Omit<FoundPage, 'left'>,
  { token, amountCents, answer }: PageSubmission,
): Promise<Payment> {
  const submission = fingerprintOf([token, amountCents, answer]);
  const key = { pageId: page.id, submission };
  const earlier = await paymentPages.findSubmission(key);
  if (earlier !== null) return earlier;
  requireOpen(state);
  const payoutAddress = payoutAddressOf(page, account);
  if (payoutAddress === null) throw new PageClosedError('paused');
  let stored: Payment | null = null;
  // Checks the page's state in the transaction that stores the payment, so that stock is not oversold.
  const payments: CreatePaymentContext['payments'] = {
    ...create.payments,
    async createPayment(payment) {
      const pagePayment = {
        ...key,
        paymentId: payment.id,
        answer,
        heldUntilMs: payment.createdAtMs + HOLD_MS,
      };
      stored = await paymentPages.createPagePayment(payment, pagePayment, (used) =>
        requireOpen(pageStateAt(used, account, payment.createdAtMs)),
      );
      return { kind: stored === null ? 'reserved' : 'created' };
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

function requireOpen(state: PageState): void {
  if (state === 'busy')
    throw new ServiceError('rate_limited', undefined, { retryAfterSeconds: BUSY_SECONDS });
  if (state !== 'open') throw new PageClosedError(state);
}
