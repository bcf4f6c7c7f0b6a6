import type { IpnTokens } from '../../domain/ipn-token.ts';
import { currencies, formatCents, formatOptionalCents, formatUnits } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { shortCodeOf } from '../../domain/payment-id.ts';
import { paymentStates } from '../../domain/payment-states.ts';
import { MULTI_PROVIDER, providerIds } from '../../domain/provider-catalog.ts';
import { SETTLEMENT_COIN } from '../../domain/webhook.ts';

/**
 * JSON schemas of answers that carry, in their types alone, the type they describe. The serializer, the documentation
 * and the compiler read the same object. A library for this took 370 files and a tenth of a second of every start.
 */

/** Carries a type; no object has this field at run time. */
declare const described: unique symbol;

/** The schema of a field that holds `Value`. */
export type FieldSchema<Value> = Readonly<Record<string, unknown>> & { readonly [described]?: Value };

/** The schema of an object in which every field is always present. */
export interface AnswerSchema<Fields extends Readonly<Record<string, FieldSchema<unknown>>>> {
  readonly type: 'object';
  readonly required: readonly string[];
  readonly properties: Fields;
}

export type AnswerOf<Schema> =
  Schema extends AnswerSchema<infer Fields>
    ? { -readonly [Name in keyof Fields]: Fields[Name] extends FieldSchema<infer Value> ? Value : never }
    : never;

export function answerSchema<Fields extends Readonly<Record<string, FieldSchema<unknown>>>>(
  properties: Fields,
): AnswerSchema<Fields> {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** Further keywords for the documentation, which the serializer ignores. */
type Keywords = Readonly<Record<string, unknown>>;

/** A field with its description and examples, of which the first appears in the examples of whole answers. */
const field =
  <Value>(type: string | readonly string[], format?: 'unsafe') =>
  (description: string, examples: readonly [Value, ...Value[]], more: Keywords = {}): FieldSchema<Value> => ({
    type,
    description,
    ...more,
    examples,
    ...(format === undefined ? {} : { format }),
  });

/**
 * Text made by the service, or checked against a fixed form. It contains nothing that JSON must escape, so the
 * serializer skips the search (`unsafe` is its word for that). Never for text that a caller typed.
 */
const ownText = field<string>('string', 'unsafe');
const callersText = field<string>('string');
const ownTextOrNull = field<string | null>(['string', 'null'], 'unsafe');
const yesOrNo = field<boolean>('boolean');
const numeric = field<number>('number');

export const FIAT_PATTERN = '^[0-9]+\\.[0-9]{2}$';
export const USDC_PATTERN = '^[0-9]+\\.[0-9]{6}$';
export const ADDRESS_PATTERN = '^0x[0-9a-fA-F]{40}$';
export const HASH_PATTERN = '^0x[0-9a-f]{64}$';
const ID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$';
const TIME_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$';

export const EXAMPLE_ID = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
const EXAMPLE_DEPOSIT_ADDRESS = '0x18Ed66b2Ab130EFF5D813b60ff64A8d6D8B6860d';

const states = Object.keys(paymentStates);
const statuses = [...new Set(states.map((state) => state.split('/')[0] as string))];
const forwardStatuses = [...new Set(states.map((state) => state.split('/')[1] as string))];

const paymentId = ownText("The payment's id.", [EXAMPLE_ID], { pattern: ID_PATTERN });
const depositAddress = (description: string) =>
  ownText(description, [EXAMPLE_DEPOSIT_ADDRESS], { pattern: ADDRESS_PATTERN });
const transaction = (description: string, example: string) =>
  ownTextOrNull(description, [example, null], { pattern: HASH_PATTERN });

/** The fields of the charge in both answers. */
const charge = {
  amount: ownText('The amount charged to the customer, including a fee passed on.', ['25.00'], {
    pattern: FIAT_PATTERN,
  }),
  original_amount: ownTextOrNull(
    'With fee pass-through the amount that was asked for, else null.',
    [null, '100.00'],
    { pattern: FIAT_PATTERN },
  ),
  customer_fee_amount: ownTextOrNull(
    'With fee pass-through what was added to it, else null.',
    [null, '2.57'],
    { pattern: FIAT_PATTERN },
  ),
  pass_fee_to_customer: yesOrNo('Whether the fee is passed on to the customer.', [false]),
};

/** The specification's Payment, as create answers it. */
export const createdPaymentSchema = answerSchema({
  payment_id: paymentId,
  ipn_token: ownText(
    'Secret. Signs the webhook and identifies the payment. Never show it to the customer.',
    ['ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4'],
    { pattern: '^ipn_[0-9A-Za-z_-]+$' },
  ),
  // The caller's email address in it is percent-encoded.
  checkout_url: ownText(
    'Where to send the customer. `auto=1` with a single provider, `email=…` with an address.',
    [`https://pay.example/pay/${EXAMPLE_ID}`],
  ),
  short_code: ownText('The short code of the checkout.', ['1aec5resg0bwe2xyfjeqyfm'], {
    pattern: '^[0-9a-z]+$',
  }),
  short_url: callersText('A short link to the same checkout, for messages and print.', [
    'https://pay.example/s/1aec5resg0bwe2xyfjeqyfm',
  ]),
  callback_url: callersText('The callback from the create request.', ['https://shop.example/webhook']),
  address_in: depositAddress('The deposit address, for reconciliation only.'),
  polygon_address_in: depositAddress('The same address as `address_in`.'),
  payment_type: ownText('Always `card`.', ['card'], { enum: ['card'] }),
  provider: ownText('`multi`, or the requested provider.', [MULTI_PROVIDER], {
    enum: [MULTI_PROVIDER, ...providerIds],
  }),
  ...charge,
  fee_percent: numeric("The account's card fee in percent.", [2.5], { minimum: 0, maximum: 100 }),
  status: ownText('Always `unpaid` at creation. Read the status for later changes.', ['unpaid'], {
    enum: ['unpaid'],
  }),
});

/** The specification's Payment status; `paid_at` is null until the payment is paid. */
export const paymentStatusSchema = answerSchema({
  payment_id: paymentId,
  status: ownText('Fulfill the order only if it is `paid`.', ['paid'], { enum: statuses }),
  forward_status: ownText(
    'The progress of the transfer to the merchant wallet. `completed` is final.',
    ['completed'],
    { enum: forwardStatuses },
  ),
  ...charge,
  currency: ownText('The currency of the amount.', ['USD'], { enum: currencies }),
  coin: ownText('The settlement asset.', [SETTLEMENT_COIN], { enum: [SETTLEMENT_COIN] }),
  value_coin: ownText(
    'The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`.',
    ['21.010000'],
    { pattern: USDC_PATTERN },
  ),
  forwarded_amount: ownText(
    "The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release.",
    ['20.484750'],
    { pattern: USDC_PATTERN },
  ),
  txid_in: transaction(
    'The deposit that reached the paid threshold. Before that, the last deposit seen, or null.',
    '0x5b484cd3e9340db00b6d41cc470d8f9016f5a2312304198aac9a2a61d15520fd',
  ),
  txid_out: transaction(
    'The transaction that paid the merchant.',
    '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f',
  ),
  address_in: depositAddress('The deposit address.'),
  paid_at: ownTextOrNull(
    'The time at which the payment became `paid`, or null.',
    ['2026-11-21T02:03:09.770Z', null],
    { pattern: TIME_PATTERN },
  ),
  created_at: ownText('The time of creation.', ['2026-11-21T02:03:00.916Z'], { pattern: TIME_PATTERN }),
});

export interface PresentContext {
  readonly tokens: IpnTokens;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

/** The answer to a create. A replay of an idempotent request gets the same one, so `status` is as at creation. */
export function presentCreatedPayment(
  { tokens, baseUrl }: PresentContext,
  payment: Payment,
): AnswerOf<typeof createdPaymentSchema> {
  const shortCode = shortCodeOf(payment.id);
  return {
    payment_id: payment.id,
    ipn_token: tokens.create(payment.id, payment.tokenFingerprint),
    checkout_url: checkoutUrl(baseUrl, payment),
    short_code: shortCode,
    short_url: `${baseUrl}/s/${shortCode}`,
    // A create by API always has one.
    callback_url: payment.callbackUrl ?? '',
    address_in: payment.depositAddress,
    polygon_address_in: payment.depositAddress,
    payment_type: 'card',
    provider: payment.provider,
    amount: formatCents(payment.amountCents),
    original_amount: formatOptionalCents(payment.originalAmountCents),
    customer_fee_amount: formatOptionalCents(payment.customerFeeCents),
    pass_fee_to_customer: payment.passFeeToCustomer,
    fee_percent: payment.feeBasisPoints / 100,
    status: 'unpaid',
  };
}

export function presentPaymentStatus(payment: Payment): AnswerOf<typeof paymentStatusSchema> {
  return {
    payment_id: payment.id,
    status: payment.status,
    forward_status: payment.forwardStatus,
    amount: formatCents(payment.amountCents),
    original_amount: formatOptionalCents(payment.originalAmountCents),
    customer_fee_amount: formatOptionalCents(payment.customerFeeCents),
    pass_fee_to_customer: payment.passFeeToCustomer,
    currency: payment.currency,
    coin: SETTLEMENT_COIN,
    value_coin: formatUnits(payment.receivedUnits),
    forwarded_amount: formatUnits(payment.forwardedUnits),
    txid_in: payment.txidIn,
    txid_out: payment.txidOut,
    address_in: payment.depositAddress,
    paid_at: payment.paidAtMs === null ? null : new Date(payment.paidAtMs).toISOString(),
    created_at: new Date(payment.createdAtMs).toISOString(),
  };
}

/** `auto=1` for a single provider; the email as given, so that the page can be prefilled. */
export function checkoutUrl(baseUrl: string, { id, provider, email }: Payment): string {
  const page = `${baseUrl}/pay/${id}`;
  const isSingle = provider !== MULTI_PROVIDER;
  if (email === null) return isSingle ? `${page}?auto=1` : page;
  // A bare "+" would be read as a space, a bare "'" could end an attribute in a merchant's page.
  const encoded = encodeURIComponent(email).replaceAll("'", '%27');
  return `${page}?${isSingle ? 'auto=1&' : ''}email=${encoded}`;
}
