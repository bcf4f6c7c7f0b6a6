import { errorTable } from '../../payment/errors.ts';
import { currencies } from '../../payment/money.ts';
import { SETTLEMENT_COIN } from '../../payment/payment-events.ts';
import { journalAccounts } from '../../reports/journal-and-statement.ts';
import { degradations } from '../../web/well-known.ts';
import * as json from '../json-schema.ts';
import { checkoutParameters } from '../merchant/checkout-parameters.ts';
import { directParameters } from '../merchant/merchant-parameters.ts';
import {
  type AddedEvents,
  auditLogSchema,
  checkoutSchema,
  directPaymentSchema,
  eventsSchemaWith,
  merchantDaysSchema,
  merchantPaymentListSchema,
  merchantPaymentSchema,
} from '../merchant/merchant-schemas.ts';
import { createParameters } from '../parse-create-request.ts';
import { createdPaymentSchema, paymentStatusSchema } from '../payment-schemas.ts';

const errorCodes = [...new Set(Object.values(errorTable).flatMap(({ code }) => code ?? []))];

const EXAMPLE_FACTORY = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const EXAMPLE_IMPLEMENTATION = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';

const factory = json.named('DepositFactory')({
  address: json.address('The factory.', EXAMPLE_FACTORY),
  implementation: json.address('The implementation contract of the deposit proxies.', EXAMPLE_IMPLEMENTATION),
  code_hash: json.text("The keccak-256 hash of the factory's code on the chain.", `0x${'1f'.repeat(32)}`),
});

const RELEASE = '0x30331145e5c13475ee57df577307f66964c3ff2d35ccefcd93e706291532ca9f';

const timestamp = json.count('The time of sending, in Unix seconds.', 1795226590);

const paymentPaidSchema: json.JsonSchema = {
  description: 'The payment is paid. For card payments, the USDC has also been sent to the merchant wallet.',
  ...json.object({
    event: json.oneOf('The event type.', ['payment.paid']),
    id: json.text('The same as `paymentId`.', json.EXAMPLE_ID),
    paymentId: json.text("The payment's id, a lower-case UUID.", json.EXAMPLE_ID),
    status: json.oneOf('Always `paid`.', ['paid']),
    amount: json.fiatOrNull('The amount charged to the customer.', '25.00'),
    originalAmount: json.fiatOrNull('With fee pass-through: the requested amount.', null),
    customerFeeAmount: json.fiatOrNull('With fee pass-through: the fee added to it.', null),
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
    email: json.textOrNull('The email address from the create request.', null),
    timestamp,
  }),
};

const paymentForwardedSchema: json.JsonSchema = {
  description: 'Only for direct payments: the funds were forwarded.',
  ...json.object({
    event: json.oneOf('The event type.', ['payment.forwarded']),
    paymentId: json.text("The payment's id, a lower-case UUID.", json.EXAMPLE_ID),
    forwardTxid: json.text('The transaction that paid the merchant.', RELEASE, {
      pattern: json.HASH_PATTERN,
    }),
    amountForwarded: json.usdc('The USDC that was forwarded.', '20.484750'),
    toWallet: json.address("The merchant's wallet.", '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'),
    timestamp,
  }),
};

export const bodies = {
  CreateCheckout: createParameters,
  CreateMerchantCheckout: checkoutParameters,
  CreateDirectPayment: directParameters,
} as const satisfies Record<string, json.RequestParameters>;

/** Returns all schemas of operations and webhooks, including those of features and their additions to events. */
export const schemasWith = (
  added: Readonly<Record<string, json.JsonSchema>>,
  events: AddedEvents,
): Readonly<Record<string, json.JsonSchema>> => ({
  CreateCheckout: {
    ...json.bodyOf(createParameters),
    description:
      'The service also validates what a schema cannot express: ' +
      'the checksum of `address`, the public host of `callback`, and the decimals of a numeric `amount`. A string `amount` is validated in full by the schema.',
    // The two names of one flag must not contradict each other.
    not: {
      anyOf: [true, false].map((flag) => ({
        type: 'object',
        required: ['passFeeToCustomer', 'pass_fee_to_customer'],
        properties: { passFeeToCustomer: { const: flag }, pass_fee_to_customer: { const: !flag } },
      })),
    },
  },
  Payment: createdPaymentSchema,
  PaymentStatus: paymentStatusSchema,
  MerchantPayment: merchantPaymentSchema,
  MerchantPaymentList: merchantPaymentListSchema,
  MerchantEvents: eventsSchemaWith(events),
  AuditLog: auditLogSchema,
  MerchantDays: merchantDaysSchema,
  CreateMerchantCheckout: { ...json.bodyOf(checkoutParameters), additionalProperties: false },
  MerchantCheckout: checkoutSchema,
  CreateDirectPayment: json.bodyOf(directParameters),
  DirectPayment: directPaymentSchema,
  JournalCsv: {
    type: 'string',
    description:
      `Lines of comma-separated values (RFC 4180), ` +
      `the first with the names of the columns. The accounts are \`${Object.keys(journalAccounts).join('`, `')}\`.`,
    examples: ['date,payment_id,account,debit_usd,credit_usd,provider,amount,currency,usd_rate\r\n'],
  },
  ...added,
  PaymentPaidEvent: paymentPaidSchema,
  PaymentForwardedEvent: paymentForwardedSchema,
  SettlementProof: json.object({
    chain_id: json.decimal('The chain: 137 is Polygon.', 137, { type: 'integer' }),
    token: json.address('The USDC contract.', '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
    factories: {
      ...json.list('All deposit factories of existing payments, the current one first.', factory),
      examples: [[exampleOf(factory)]],
    },
    fee_wallets: json.list(
      'Where the fees go or went, the current one first.',
      { type: 'string', pattern: json.ADDRESS_PATTERN },
      ['0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB'],
    ),
    recompute_deposit_address: json.texts('The computation, step by step.', {
      reference: 'keccak256(utf8(payment_id))',
    }),
  }),
  Live: json.object({ status: json.oneOf('The process responds.', ['live']) }),
  Ready: json.object(
    {
      status: json.oneOf('The service accepts requests.', ['ready']),
      degraded: json.list(
        'Present if something is wrong: ' +
          'its database does not answer (`database_lost`), no block was scanned for three minutes, ' +
          'so that nothing becomes `paid` (`scan_late`), RPC endpoints do not confirm the deposit factory (`factory_unverified`), ' +
          'or the signer of the releases fails (`signer_failing`).',
        json.word(degradations),
        ['scan_late'],
      ),
      scanned_block_age_seconds: json.count('The age of the newest block that was scanned.', 12),
    },
    ['degraded', 'scanned_block_age_seconds'],
  ),
  Error: {
    type: 'object',
    required: ['error'],
    properties: {
      error: { type: 'string', description: 'For people. The wording may change.' },
      code: json.openWord('ErrorCode', 'For programs. Present only if a program can act on it.', errorCodes),
    },
  },
});

const header = (description: string, schema: json.JsonSchema, example: unknown, required = true) => ({
  description,
  required,
  schema,
  example,
});

export const headers = {
  RetryAfter: header('Whole seconds to wait. Add a random delay.', { type: 'integer', minimum: 1 }, 17),
  RetryAfterBusy: header(
    'Present if the provider limits requests: whole seconds until the next attempt.',
    { type: 'integer', minimum: 1 },
    2,
    false,
  ),
  ETag: header(
    'Send it as If-None-Match with the next request.',
    { type: 'string' },
    '"x0RkG8d0b1e4sLk9Qq2nW7v5t3y"',
  ),
  RequestId: header(
    'Include it in support requests. The operator finds the request in the log by it.',
    { type: 'string' },
    '5f2c9a0b1d3e-4k',
  ),
  WwwAuthenticate: header(
    'The accepted authentication scheme.',
    { type: 'string', enum: ['Bearer'] },
    'Bearer',
  ),
};

export const signatureParameter = {
  name: 'X-Service-Signature',
  in: 'header',
  required: true,
  description: 'The HMAC-SHA256 of the raw body with the `ipn_token` as key, in lower-case hex.',
  schema: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  example: '9368b00c91589141153a0cba79d3b0a78de0042a2fb7013eb3d4783ebe84685b',
} as const;

/** Returns the example of an object schema: its own, or one built from the first example of each property. */
export function exampleOf({ examples, properties: fields }: json.JsonSchema): unknown {
  if (Array.isArray(examples)) return examples[0];
  const properties = fields as Readonly<Record<string, { readonly examples: readonly unknown[] }>>;
  return Object.fromEntries(Object.entries(properties).map(([name, { examples }]) => [name, examples[0]]));
}
