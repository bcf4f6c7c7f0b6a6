import type { IpnTokens } from '../../domain/ipn-token.ts';
import { currencies, formatCents, formatUnits } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { shortCodeOf } from '../../domain/payment-id.ts';
import { paymentStates } from '../../domain/payment-states.ts';
import { MULTI_PROVIDER, providerIds } from '../../domain/provider-catalogue.ts';
import { formatOptionalCents, SETTLEMENT_COIN } from '../../domain/webhook.ts';
import * as json from '../openapi/json-schema.ts';

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

/** The type that this schema describes. */
export type AnswerOf<Schema> =
  Schema extends AnswerSchema<infer Fields>
    ? { -readonly [Name in keyof Fields]: Fields[Name] extends FieldSchema<infer Value> ? Value : never }
    : never;

export function answerSchema<Fields extends Readonly<Record<string, FieldSchema<unknown>>>>(
  properties: Fields,
): AnswerSchema<Fields> {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** Keywords for the documentation; the serializer ignores them. */
interface FieldNotes {
  readonly description: string;
  /** Examples; the first one appears in the examples of whole answers. */
  readonly examples: readonly [unknown, ...unknown[]];
  readonly enum?: readonly string[];
  readonly pattern?: string;
}

/**
 * Text made by the service, or checked against a fixed form. It contains nothing that JSON must escape, so the
 * serializer skips the search (`unsafe` is its word for that). Never for text that a caller typed.
 */
const ownText = (notes: FieldNotes): FieldSchema<string> => ({ type: 'string', ...notes, format: 'unsafe' });
const callersText = (notes: FieldNotes): FieldSchema<string> => ({ type: 'string', ...notes });
const ownTextOrNull = (notes: FieldNotes): FieldSchema<string | null> => ({
  type: ['string', 'null'],
  ...notes,
  format: 'unsafe',
});
const yesOrNo = (notes: FieldNotes): FieldSchema<boolean> => ({ type: 'boolean', ...notes });
const numeric = (
  notes: FieldNotes & { readonly minimum: number; readonly maximum: number },
): FieldSchema<number> => ({
  type: 'number',
  ...notes,
});

const ID_PATTERN = '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$';
const TIME_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$';

const EXAMPLE_DEPOSIT_ADDRESS = '0x18Ed66b2Ab130EFF5D813b60ff64A8d6D8B6860d';

const states = Object.keys(paymentStates);
const statuses = [...new Set(states.map((state) => state.split('/')[0] as string))];
const forwardStatuses = [...new Set(states.map((state) => state.split('/')[1] as string))];

const paymentId = ownText({
  description: "The payment's id.",
  pattern: ID_PATTERN,
  examples: [json.EXAMPLE_ID],
});
const depositAddress = (description: string) =>
  ownText({ description, pattern: json.ADDRESS_PATTERN, examples: [EXAMPLE_DEPOSIT_ADDRESS] });
const transaction = (description: string, example: string) =>
  ownTextOrNull({ description, pattern: json.HASH_PATTERN, examples: [example, null] });

/** The fields of the charge in both answers. */
const charge = {
  amount: ownText({
    description: 'The amount charged to the customer, including a fee passed on.',
    pattern: json.FIAT_PATTERN,
    examples: ['25.00'],
  }),
  original_amount: ownTextOrNull({
    description: 'With fee pass-through the amount that was asked for, else null.',
    pattern: json.FIAT_PATTERN,
    examples: [null, '100.00'],
  }),
  customer_fee_amount: ownTextOrNull({
    description: 'With fee pass-through what was added to it, else null.',
    pattern: json.FIAT_PATTERN,
    examples: [null, '2.57'],
  }),
  pass_fee_to_customer: yesOrNo({
    description: 'Whether the fee is passed on to the customer.',
    examples: [false],
  }),
};

/** The specification's Payment, as create answers it. */
export const createdPaymentSchema = answerSchema({
  payment_id: paymentId,
  ipn_token: ownText({
    description: 'Secret. Signs the webhook and identifies the payment. Never show it to the customer.',
    pattern: '^ipn_[0-9A-Za-z_-]+$',
    examples: ['ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4'],
  }),
  // The caller's e-mail address in it is percent-encoded.
  checkout_url: ownText({
    description: 'Where to send the customer. `auto=1` with a single provider, `email=…` with an address.',
    examples: [`https://pay.example/pay/${json.EXAMPLE_ID}`],
  }),
  short_code: ownText({
    description: 'The short code of the checkout.',
    pattern: '^[0-9a-z]+$',
    examples: ['1aec5resg0bwe2xyfjeqyfm'],
  }),
  short_url: callersText({
    description: 'A short link to the same checkout, for messages and print.',
    examples: ['https://pay.example/s/1aec5resg0bwe2xyfjeqyfm'],
  }),
  callback_url: callersText({
    description: 'The callback from the create request.',
    examples: ['https://shop.example/webhook'],
  }),
  address_in: depositAddress('The deposit address, for reconciliation only.'),
  polygon_address_in: depositAddress('The same address as `address_in`.'),
  payment_type: ownText({ description: 'Always `card`.', enum: ['card'], examples: ['card'] }),
  provider: ownText({
    description: '`multi`, or the requested provider.',
    enum: [MULTI_PROVIDER, ...providerIds],
    examples: [MULTI_PROVIDER],
  }),
  ...charge,
  fee_percent: numeric({
    description: "The account's card fee in percent.",
    minimum: 0,
    maximum: 100,
    examples: [2.5],
  }),
  status: ownText({
    description: 'Always `unpaid` at creation. Read the status for later changes.',
    enum: ['unpaid'],
    examples: ['unpaid'],
  }),
});

/** The specification's Payment status; `paid_at` is null until the payment is paid. */
export const paymentStatusSchema = answerSchema({
  payment_id: paymentId,
  status: ownText({
    description: 'Fulfill the order only if it is `paid`.',
    enum: statuses,
    examples: ['paid'],
  }),
  forward_status: ownText({
    description: 'The progress of the transfer to the merchant wallet. `completed` is final.',
    enum: forwardStatuses,
    examples: ['completed'],
  }),
  ...charge,
  currency: ownText({ description: 'The currency of the amount.', enum: currencies, examples: ['USD'] }),
  coin: ownText({
    description: 'The settlement asset.',
    enum: [SETTLEMENT_COIN],
    examples: [SETTLEMENT_COIN],
  }),
  value_coin: ownText({
    description:
      'The USDC that arrived and was released. While `unpaid`, the USDC seen so far, which a reorganization can remove. Compare it with `amount` and `currency`.',
    pattern: json.USDC_PATTERN,
    examples: ['21.010000'],
  }),
  forwarded_amount: ownText({
    description: "The USDC sent to the merchant's wallet, after the fee. `0.000000` until the release.",
    pattern: json.USDC_PATTERN,
    examples: ['20.484750'],
  }),
  txid_in: transaction(
    'The deposit that reached the paid threshold. Before that, the last deposit seen, or null.',
    '0x5b484cd3e9340db00b6d41cc470d8f9016f5a2312304198aac9a2a61d15520fd',
  ),
  txid_out: transaction(
    'The transaction that paid the merchant.',
    '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f',
  ),
  address_in: depositAddress('The deposit address.'),
  paid_at: ownTextOrNull({
    description: 'The time at which the payment became `paid`, or null.',
    pattern: TIME_PATTERN,
    examples: ['2026-11-21T02:03:09.770Z', null],
  }),
  created_at: ownText({
    description: 'The time of creation.',
    pattern: TIME_PATTERN,
    examples: ['2026-11-21T02:03:00.916Z'],
  }),
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
    callback_url: payment.callbackUrl,
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

/** The answer to a status read. */
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

/** `auto=1` for a single provider; the e-mail as given, so that the page can be prefilled. */
export function checkoutUrl(baseUrl: string, { id, provider, email }: Payment): string {
  const page = `${baseUrl}/pay/${id}`;
  const isSingle = provider !== MULTI_PROVIDER;
  if (email === null) return isSingle ? `${page}?auto=1` : page;
  // A bare "+" would be read as a space, a bare "'" could end an attribute in a merchant's page.
  const encoded = encodeURIComponent(email).replaceAll("'", '%27');
  return `${page}?${isSingle ? 'auto=1&' : ''}email=${encoded}`;
}
