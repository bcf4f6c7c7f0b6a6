import { currencies } from '../../domain/money.ts';
import { SETTLEMENT_COIN } from '../../domain/webhook.ts';
import * as json from './json-schema.ts';

const RELEASE = '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f';

const timestamp = {
  type: 'integer',
  description: 'The time of sending, in Unix seconds.',
  examples: [1795226590],
};

/** The body of the event `payment.paid`. */
export const paymentPaidSchema: json.JsonSchema = {
  description: 'The payment is paid. For card payments, the USDC has also been sent to the merchant wallet.',
  ...json.object({
    event: json.oneOf('The event type.', ['payment.paid']),
    id: json.text('The same as `paymentId`.', json.EXAMPLE_ID),
    paymentId: json.text("The payment's id.", json.EXAMPLE_ID),
    status: json.oneOf('Always `paid`.', ['paid']),
    amount: json.fiatOrNull('The amount charged to the customer.', '25.00'),
    originalAmount: json.fiatOrNull('With fee pass-through the amount that was asked for.', null),
    customerFeeAmount: json.fiatOrNull('With fee pass-through what was added.', null),
    passFeeToCustomer: json.yesOrNo('Whether the fee was passed on to the customer.', false),
    currency: json.oneOf('The currency of the amount.', currencies, 'USD'),
    coin: json.textOrNull('The settlement asset.', SETTLEMENT_COIN, { enum: [SETTLEMENT_COIN, null] }),
    receivedAmount: json.usdcOrNull('The USDC that arrived.'),
    forwardedAmount: json.usdcOrNull("The USDC sent to the merchant's wallet.", '20.484750'),
    txidIn: json.hashOrNull(
      'The transaction of the deposit.',
      '0x5b484cd3e9340db00b6d41cc470d8f9016f5a2312304198aac9a2a61d15520fd',
    ),
    txidOut: json.hashOrNull('The transaction that paid the merchant.', RELEASE),
    note: json.textOrNull('The note from the create request.', 'Order 1001'),
    email: json.textOrNull('The e-mail address from the create request.', null),
    timestamp,
  }),
};

/** The body of the event that ends a direct USDC payment. Payments created by this API have none. */
export const paymentForwardedSchema: json.JsonSchema = {
  description: 'Only for direct payments, which this API does not create: the funds were forwarded.',
  ...json.object({
    event: json.oneOf('The event type.', ['payment.forwarded']),
    paymentId: json.text("The payment's id.", json.EXAMPLE_ID),
    forwardTxid: json.text('The transaction that paid the merchant.', RELEASE, {
      pattern: json.HASH_PATTERN,
    }),
    amountForwarded: json.usdc('The USDC that was forwarded.', '20.484750'),
    toWallet: json.text("The merchant's wallet.", '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', {
      pattern: json.ADDRESS_PATTERN,
    }),
    timestamp,
  }),
};
