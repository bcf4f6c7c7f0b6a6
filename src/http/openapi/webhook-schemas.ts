import { currencies } from '../../domain/money.ts';
import { SETTLEMENT_COIN } from '../../domain/webhook.ts';
import {
  ADDRESS_PATTERN,
  EXAMPLE_ID,
  FIAT_PATTERN,
  HASH_PATTERN,
  type JsonSchema,
  object,
  oneOf,
  text,
  textOrNull,
  USDC_PATTERN,
  yesOrNo,
} from './json-schema.ts';

const timestamp = {
  type: 'integer',
  description: 'The time of sending, in Unix seconds.',
  examples: [1795226590],
};

/** The body of the event `payment.paid`. */
export const paymentPaidSchema: JsonSchema = {
  description: 'The payment is paid. For card payments, the USDC has also been sent to the merchant wallet.',
  ...object({
    event: oneOf('The event type.', ['payment.paid']),
    id: text('The same as `paymentId`.', EXAMPLE_ID),
    paymentId: text("The payment's id.", EXAMPLE_ID),
    status: oneOf('Always `paid`.', ['paid']),
    amount: textOrNull('The amount charged to the customer.', '25.00', { pattern: FIAT_PATTERN }),
    originalAmount: textOrNull('With fee pass-through the amount that was asked for.', null, {
      pattern: FIAT_PATTERN,
    }),
    customerFeeAmount: textOrNull('With fee pass-through what was added.', null, { pattern: FIAT_PATTERN }),
    passFeeToCustomer: yesOrNo('Whether the fee was passed on to the customer.', false),
    currency: oneOf('The currency of the amount.', currencies, 'USD'),
    coin: textOrNull('The settlement asset.', SETTLEMENT_COIN, { enum: [SETTLEMENT_COIN, null] }),
    receivedAmount: textOrNull('The USDC that arrived.', '21.010000', { pattern: USDC_PATTERN }),
    forwardedAmount: textOrNull("The USDC sent to the merchant's wallet.", '20.484750', {
      pattern: USDC_PATTERN,
    }),
    txidIn: textOrNull(
      'The transaction of the deposit.',
      '0x5b484cd3e9340db00b6d41cc470d8f9016f5a2312304198aac9a2a61d15520fd',
      { pattern: HASH_PATTERN },
    ),
    txidOut: textOrNull(
      'The transaction that paid the merchant.',
      '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f',
      { pattern: HASH_PATTERN },
    ),
    note: textOrNull('The note from the create request.', 'Order 1001'),
    email: textOrNull('The e-mail address from the create request.', null),
    timestamp,
  }),
};

/** The body of the event that ends a direct USDC payment. Payments created by this API have none. */
export const paymentForwardedSchema: JsonSchema = {
  description: 'Only for direct payments, which this API does not create: the funds were forwarded.',
  ...object({
    event: oneOf('The event type.', ['payment.forwarded']),
    paymentId: text("The payment's id.", EXAMPLE_ID),
    forwardTxid: text(
      'The transaction that paid the merchant.',
      '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f',
      { pattern: HASH_PATTERN },
    ),
    amountForwarded: text('The USDC that was forwarded.', '20.484750', { pattern: USDC_PATTERN }),
    toWallet: text("The merchant's wallet.", '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', {
      pattern: ADDRESS_PATTERN,
    }),
    timestamp,
  }),
};
