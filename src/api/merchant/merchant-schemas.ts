import { keyScopes } from '../../accounts/api-key.ts';
import {
  type RefundStatus,
  refundStatuses,
  type TransactionProblem,
  transactionProblems,
} from '../../features/refunds/refund.ts';
import { currencies } from '../../payment/money.ts';
import { amountMismatches, cancelReasons } from '../../payment/payment.ts';
import { type PaymentEventType, paymentEventTypes } from '../../payment/payment-events.ts';
import { providerIds } from '../../payment/provider-catalog.ts';
import { paymentProviders } from '../../reports/parse-payment-query.ts';
import * as json from '../json-schema.ts';
import { paymentStatusSchema } from '../payment-schemas.ts';

/** Answer to a connected shop. */
export const connectionSchema = json.object({
  api_key: json.text('The API key. It is shown only here.', 'service_live_…'),
  key_id: json.text("The key's id.", 'key_5b484cd3e9340db05b48'),
  scopes: json.list('What the key may do.', json.word(keyScopes), ['create', 'read']),
  callback_host: json.textOrNull('The only host that callbacks may name, or null for any.', 'shop.example'),
  account_id: json.text("The account's id.", 'acc_5b484cd3e9340db05b48'),
  account_name: json.text("The account's name.", 'Example shop'),
  wallet: json.textOrNull("The account's payout wallet, or null.", null),
});

const chainPosition = {
  transaction: json.text('The transaction hash.', json.EXAMPLE_HASH),
  block_number: json.count('The block.', 78_000_000),
  is_final: json.yesOrNo('Whether the block is final.', true),
};

const expanded = {
  deposits: json.list(
    'With `expand=deposits`: the USDC transfers to the deposit address.',
    json.object({ ...chainPosition, amount: json.usdc('The USDC that arrived.') }),
  ),
  releases: json.list(
    'With `expand=releases`: the transactions that paid the merchant.',
    json.object({
      ...chainPosition,
      forwarded_amount: json.usdc("The merchant's part."),
      fee_amount: json.usdc('The fee.'),
    }),
  ),
  sessions: json.list(
    "With `expand=sessions`: the customer's sessions at providers.",
    json.object({
      provider: json.oneOf('The provider.', providerIds),
      charged_amount: json.text('The amount that it charges: the whole amount, or the rest.', '25.00'),
      quoted_amount: json.usdcOrNull('The USDC that the provider quoted, or null.'),
      progress: json.textOrNull("The provider's last report, or null. Informational only.", 'delivered'),
      created_at: json.time('When the session started.'),
      expires_at: json.time('Until when the customer can begin to pay in it.'),
    }),
  ),
  webhooks: json.list(
    'With `expand=webhooks`: the webhooks of the payment and their one delivery.',
    json.object({
      event: json.text('The event.', 'payment.paid'),
      status: json.text('How far the one delivery is.', 'delivered'),
      http_status: json.countOrNull('The HTTP status that the receiver answered.', 200),
      reason: json.textOrNull('Why it was not delivered, or null.', null),
      created_at: json.time('When the webhook was queued.'),
      finished_at: json.timeOrNull('When the delivery ended, or null.'),
    }),
  ),
};
/** Parts of a payment that an answer contains on request. */
export type Expansion = keyof typeof expanded;
export const expansions = Object.keys(expanded) as readonly Expansion[];

const paymentFields = {
  ...paymentStatusSchema.properties,
  provider: json.oneOf('The provider that the payment was created with.', paymentProviders),
  fee_percent: json.decimal("The account's fee in percent.", 2.5),
  payout_address: json.text('The payout wallet.', '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'),
  checkout_url: json.text(
    'The page on which the customer pays.',
    'https://pay.example/pay/01a1fbd7-b7b3-7002-be38',
  ),
  email: json.textOrNull("The customer's email address, or null. It is not verified.", 'ada@example.com'),
  note: json.textOrNull('The note, or null. Only the merchant sees it.', 'Order 1042'),
  amount_mismatch: json.oneOfOrNull(
    'Whether clearly less or clearly more than the price arrived, or null.',
    amountMismatches,
  ),
  rest: json.orNull(
    'What is missing of an open, partially paid payment, and the link to pay it. Otherwise null.',
    json.object({
      amount: json.text('The amount that a provider charges, in the currency of the payment.', '14.80'),
      usdc_amount: json.usdc('The USDC to send from a wallet instead.'),
      url: json.text('The page on which the customer pays the rest.', 'https://pay.example/pay/01a1fbd7'),
    }),
  ),
  cancel_reason: json.oneOfOrNull('Why the payment was canceled, or null.', cancelReasons),
};

export const merchantPaymentSchema = json.object({ ...paymentFields, ...expanded }, expansions);

export const directPaymentSchema = json.object({
  ...paymentFields,
  ipn_token: json.text(
    'Secret: it signs the webhooks of the payment.',
    'ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4',
  ),
  usdc_amount: json.usdc('The USDC that the customer has to send.'),
});

const merchantPayment = json.reference<typeof merchantPaymentSchema>('MerchantPayment');

export const merchantPaymentListSchema = json.object({
  payments: json.list('The payments, newest first.', merchantPayment),
  next: json.textOrNull(
    'The `before` of the next page, or null at the end. A page can be short and still have a next one.',
    null,
  ),
});

export const refundSchema = json.object({
  refund_id: json.text("The refund's id.", 'rfd_5b484cd3e9340db05b48'),
  payment_id: json.text("The payment's id.", json.EXAMPLE_ID),
  status: json.oneOf('The state.', Object.keys(refundStatuses) as RefundStatus[], 'awaiting_transfer'),
  amount: json.usdc(
    'The USDC that you transfer; once paid, what was transferred. The last digits identify the refund.',
  ),
  reason: json.textOrNull('The reason, or null.', 'Order 1042 was returned'),
  destination: json.textOrNull(
    "The customer's address, or null until the customer names it.",
    json.EXAMPLE_ADDRESS,
  ),
  payment_uri: json.textOrNull(
    'The transfer for a wallet (EIP-681) while it is expected, else null.',
    `ethereum:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359@137/transfer?address=${json.EXAMPLE_ADDRESS}&uint256=21010000`,
  ),
  submitted_transaction: json.textOrNull('The transaction that you submitted, until it is checked.', null),
  transaction_problem: json.oneOfOrNull(
    "Why the last transaction is not the refund's, or null.",
    Object.keys(transactionProblems) as TransactionProblem[],
  ),
  transaction: json.textOrNull('The final transaction, or null.', null),
  sender: json.textOrNull('The address that sent the USDC, or null. It may be that of an exchange.', null),
  created_at: json.time('When it was opened.'),
  expires_at: json.time('Until when the address or the transfer is awaited.'),
  paid_at: json.timeOrNull('When the transfer was booked, or null.'),
  address_url: json.textOrNull(
    'The link with which the customer names an address. Only in the response that opens a refund without a destination, else null.',
    'https://pay.example/refund/rfd_5b484cd3e9340db05b48/Zm9vYmFyYmF6',
  ),
});

const refund = json.reference<typeof refundSchema>('Refund');

export const refundListSchema = json.object({
  refunds: json.list('The refunds of the payment, the oldest first.', refund),
  refundable_amount: json.usdc('The USDC that can still be refunded.'),
});

const int64 = { format: 'int64' };

export const merchantEventsSchema = json.object({
  events: json.list(
    'The events in their order.',
    json.object({
      number: json.count("The event's number, above that of the event before it.", 1_795_226_589_901, int64),
      type: json.oneOf('What happened.', Object.keys(paymentEventTypes) as PaymentEventType[]),
      created_at: json.time('When it happened.'),
      payment: merchantPayment,
      refund: json.orNull(
        'For an event of a refund: the refund as it is now. Null for other events.',
        refund,
      ),
    }),
  ),
  next_after: json.count('The `after` of the next request.', 1_795_226_589_901, int64),
  has_more: json.yesOrNo('Whether more events are there now.', false),
});

export const merchantDaysSchema = json.object({
  days: json.list(
    "The days, oldest first, in the account's time zone.",
    json.object({
      date: json.text('The date.', '2026-11-21'),
      created: json.count('Payments created on this day.', 12),
      converted: json.count('Payments created on this day that are paid by now.', 9),
      paid: json.count('Payments that became paid on this day.', 10),
      paid_amounts: json.texts(
        'The charged amounts of the payments that became paid, by currency.',
        { USD: '42.00' },
        { propertyNames: { enum: currencies } },
      ),
      received_amount: json.text('USDC received for these payments when they became paid.', '42.000000'),
      service_fees: json.text('The part of it that the service kept.', '1.050000'),
    }),
  ),
});
