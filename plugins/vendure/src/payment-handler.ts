import {
  type Injector,
  LanguageCode,
  PaymentMethodEligibilityChecker,
  PaymentMethodHandler,
  type PaymentOptions,
  UserInputError,
} from '@vendure/core';
import { isPayable } from './amounts.ts';
import { CheckoutService } from './checkout-service.ts';
import { CODE } from './options.ts';

let checkouts: CheckoutService;

/** Handler that accepts payments only from the plugin. Browsers can create checkouts but not settle them. */
export const paymentHandler = new PaymentMethodHandler({
  code: CODE,
  description: [{ languageCode: LanguageCode.en, value: 'Card checkout' }],
  args: {},
  init(injector: Injector) {
    checkouts = injector.get(CheckoutService);
  },
  createPayment(ctx, _order, _amount, _args, { amount, transactionId, ...metadata }) {
    if (ctx.apiType !== 'custom') throw new UserInputError('Use the mutation createCardCheckout.');
    return { amount, transactionId, state: 'Settled', metadata };
  },
  settlePayment: () => ({ success: false, errorMessage: 'Only the service settles its payments.' }),
  createRefund: (ctx, { reason }, amount, order, payment) =>
    checkouts.openRefund(ctx, { order, payment, amount, reason: reason ?? null }),
});

/** Eligibility checker that hides the payment method if the service would refuse the checkout. */
export const eligibilityChecker = new PaymentMethodEligibilityChecker({
  code: CODE,
  description: [
    { languageCode: LanguageCode.en, value: 'Card checkout: 0.01 to 10,000 USD, EUR, CAD or INR' },
  ],
  args: {},
  check: (_ctx, order) => isPayable(order.totalWithTax, order.currencyCode),
});

/** Refund process that lets handlers open refunds as pending, which Vendure's default process refuses. */
export const pendingRefunds: NonNullable<PaymentOptions['refundProcess']>[number] = {
  transitions: { Pending: { to: ['Pending'] } },
};
