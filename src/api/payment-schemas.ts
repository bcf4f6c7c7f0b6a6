import { currencies } from '../payment/money.ts';
import { SETTLEMENT_COIN } from '../payment/payment-events.ts';
import { MULTI_PROVIDER } from '../payment/provider-catalog.ts';
import { forwardStatuses, paymentStatuses, providerChoices } from '../reports/parse-payment-query.ts';
import * as json from './json-schema.ts';

const EXAMPLE_DEPOSIT_ADDRESS = '0x18Ed66b2Ab130EFF5D813b60ff64A8d6D8B6860d';

const id = json.text("The payment's id, a lower-case UUID.", json.EXAMPLE_ID, {
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
});
const charge = {
  amount: json.fiat('The amount charged to the customer, including a fee passed on.', '25.00'),
  original_amount: json.fiatOrNull('With fee pass-through: the requested amount. Otherwise null.', [
    null,
    '100.00',
  ]),
  customer_fee_amount: json.fiatOrNull('With fee pass-through: the fee added to it. Otherwise null.', [
    null,
    '2.57',
  ]),
  pass_fee_to_customer: json.yesOrNo('Whether the fee is passed on to the customer.', false),
};

/** Schema of the specification's Payment, the answer to a create request. */
export const createdPaymentSchema = json.object({
  payment_id: id,
  ipn_token: json.text(
    'Secret. Signs the webhook and identifies the payment. Never show it to the customer.',
    'ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4',
    { pattern: '^ipn_[0-9A-Za-z_-]+$' },
  ),
  checkout_url: json.text(
    'Where to send the customer. `auto=1` with a single provider, `email=…` with an email address.',
    `https://pay.example/pay/${json.EXAMPLE_ID}`,
  ),
  short_code: json.text('The short code of the checkout.', '1aec5resg0bwe2xyfjeqyfm', {
    pattern: '^[0-9a-z]+$',
  }),
  short_url: json.text(
    'A short link to the same checkout, for messages and print.',
    'https://pay.example/s/1aec5resg0bwe2xyfjeqyfm',
  ),
  callback_url: json.text('The callback from the create request.', 'https://shop.example/webhook'),
  address_in: json.address('The deposit address, for reconciliation only.', EXAMPLE_DEPOSIT_ADDRESS),
  polygon_address_in: json.address('The same address as `address_in`.', EXAMPLE_DEPOSIT_ADDRESS),
  payment_type: json.oneOf('Always `card`.', ['card']),
  provider: json.text('`multi`, or the requested provider.', MULTI_PROVIDER, {
    enum: providerChoices,
    title: 'Provider',
  }),
  ...charge,
  fee_percent: json.decimal("The account's card fee in percent.", 2.5, { minimum: 0, maximum: 100 }),
  status: json.oneOf('Always `unpaid` at creation. Read the status for later changes.', ['unpaid']),
});

export const paymentStatusSchema = json.object({
  payment_id: id,
  status: json.oneOf('Fulfill the order only if it is `paid`.', paymentStatuses, 'paid'),
  forward_status: json.oneOf(
    'The progress of the transfer to the merchant wallet. `completed` is final.',
    forwardStatuses,
    'completed',
  ),
  ...charge,
  currency: json.oneOf('The currency of the amount.', currencies),
  coin: json.oneOf('The settlement asset.', [SETTLEMENT_COIN]),
  value_coin: json.usdc(
    'The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`.',
  ),
  forwarded_amount: json.usdc(
    "The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release.",
    '20.484750',
  ),
  txid_in: json.hashOrNull(
    'The deposit that reached the paid threshold. Before that, the last deposit seen, or null.',
    ['0x5b484cd3e9340db00b6d41cc470d8f9016f5a2312304198aac9a2a61d15520fd', null],
  ),
  txid_out: json.hashOrNull('The transaction that paid the merchant.', [
    '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f',
    null,
  ]),
  address_in: json.address('The deposit address.', EXAMPLE_DEPOSIT_ADDRESS),
  paid_at: json.textOrNull(
    'The time at which the payment became `paid`, or null.',
    ['2026-11-21T02:03:09.770Z', null],
    json.TIME,
  ),
  created_at: json.text('The time of creation.', '2026-11-21T02:03:00.916Z', json.TIME),
});
