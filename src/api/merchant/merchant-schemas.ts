import { auditActions } from '../../accounts/audit-entry.ts';
import { currencies } from '../../payment/money.ts';
import { amountMismatches, cancelReasons } from '../../payment/payment.ts';
import { paymentEventTypes } from '../../payment/payment-events.ts';
import { providerIds } from '../../payment/provider-catalog.ts';
import { paymentProviders } from '../../reports/parse-payment-query.ts';
import * as json from '../json-schema.ts';
import { paymentStatusSchema } from '../payment-schemas.ts';

const chainPosition = {
  transaction: json.text('The transaction hash.', json.EXAMPLE_HASH),
  block_number: json.count('The number of its block.', 78_000_000),
  is_final: json.yesOrNo('Whether the block is final.', true),
};

const expanded = {
  deposits: json.list(
    'With `expand=deposits`: the USDC transfers to the deposit address.',
    json.named('Deposit')({ ...chainPosition, amount: json.usdc('The USDC that arrived.') }),
  ),
  releases: json.list(
    'With `expand=releases`: the transactions that paid the merchant.',
    json.named('Release')({
      ...chainPosition,
      forwarded_amount: json.usdc("The merchant's part."),
      fee_amount: json.usdc("The fee wallet's part."),
    }),
  ),
  sessions: json.list(
    "With `expand=sessions`: the customer's sessions at providers.",
    json.named('ProviderSession')({
      provider: json.openWord('Provider', "The provider's id.", providerIds),
      charged_amount: json.text('The amount that it charges: the whole amount, or the rest.', '25.00'),
      quoted_amount: json.usdcOrNull('The USDC that the provider quoted, or null.'),
      progress: json.textOrNull("The provider's last report, or null. Informational only.", 'delivered'),
      created_at: json.time('When the session started.'),
      expires_at: json.time('Latest time at which the customer can begin to pay in it.'),
    }),
  ),
  webhooks: json.list(
    'With `expand=webhooks`: the webhooks of the payment and their one delivery.',
    json.named('WebhookDelivery')({
      event: json.text('The event type.', 'payment.paid'),
      status: json.text('The status of the single delivery.', 'delivered'),
      http_status: json.countOrNull('The HTTP status that the receiver returned.', 200),
      reason: json.textOrNull('Why it was not delivered, or null.', null),
      created_at: json.time('When the webhook was queued.'),
      finished_at: json.timeOrNull('When the delivery ended, or null.'),
    }),
  ),
};
export type Expansion = keyof typeof expanded;
export const expansions = Object.keys(expanded) as readonly Expansion[];

const paymentFields = {
  ...paymentStatusSchema.properties,
  provider: json.openWord('Provider', 'The provider that the payment was created with.', paymentProviders),
  fee_percent: json.decimal("The account's fee in percent.", 2.5),
  usd_rate: json.usdc(
    'The rate at which the charge was converted: USD for one unit of the currency.',
    '1.087400',
  ),
  payout_address: json.text('The payout wallet.', '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'),
  checkout_url: json.text(
    'The page on which the customer pays.',
    'https://pay.example/pay/01a1fbd7-b7b3-7002-be38',
  ),
  email: json.textOrNull("The customer's email address, or null. It is not verified.", 'ada@example.com'),
  note: json.textOrNull('The note, or null. Only the merchant sees it.', 'Order 1042'),
  reference: json.textOrNull('Your id of the order, or null.', 'order_01JD7Z'),
  metadata: json.texts('Your metadata; empty if there is none, or after it was erased.', {
    cart: 'cart_91',
  }),
  items: json.list(
    'What the customer buys; empty if you named nothing.',
    json.named('LineItem')({
      name: json.text('The name.', 'Tea, 100 g'),
      quantity: json.count('The quantity.', 2),
      amount: json.text('The amount of the whole line; negative for a discount.', '25.00'),
    }),
  ),
  return_url: json.textOrNull(
    'Where the customer goes after the payment, or null for the account’s setting.',
    null,
  ),
  cancel_url: json.textOrNull(
    'Where the customer goes from a canceled or expired checkout, or null for `return_url` or the account’s setting.',
    null,
  ),
  expires_at: json.timeOrNull("When the open payment expires, or null if the service's default applies."),
  amount_mismatch: json.oneOfOrNull(
    'Set if clearly less or clearly more than the price arrived; otherwise null.',
    amountMismatches,
  ),
  rest: json.orNull(
    'What is missing of an open, partially paid payment, and the link to pay it. Otherwise null.',
    json.named('PaymentRest')({
      amount: json.text('The amount that a provider charges, in the currency of the payment.', '14.80'),
      usdc_amount: json.usdc('The USDC to send from a wallet instead.'),
      url: json.text('The page on which the customer pays the rest.', 'https://pay.example/pay/01a1fbd7'),
    }),
  ),
  cancel_reason: json.oneOfOrNull('Why the payment was canceled, or null.', cancelReasons),
};

export const merchantPaymentSchema = json.object({ ...paymentFields, ...expanded }, expansions);

const createdFields = {
  ...paymentFields,
  ipn_token: json.text(
    'Secret: it signs the webhooks of the payment.',
    'ipn_fX52m501a1fbd7b7b37002be385df3e4ebf9f4',
  ),
};

export const checkoutSchema = json.object({
  ...createdFields,
  short_url: json.text('A short link to the same checkout.', 'https://pay.example/s/1aec5resg0bwe2xyfjeqyfm'),
});

export const directPaymentSchema = json.object({
  ...createdFields,
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

const int64 = { format: 'int64' };

const eventType = (added: readonly string[]) =>
  json.openWord('EventType', 'What happened.', [...Object.keys(paymentEventTypes), ...added]);

const eventFields = {
  number: json.count("The event's number, above that of the event before it.", 1_795_226_589_901, int64),
  type: eventType([]),
  created_at: json.time('When it happened.'),
  webhook_id: json.textOrNull('The `webhook-id` of the webhook, or null for an event without one.', null),
  payment: merchantPayment,
};
const eventSchema = json.object(eventFields);
export type MerchantEvent = json.ValueOf<typeof eventSchema>;

/** Event types and fields that features add to the events of an account. */
export interface AddedEvents {
  readonly types: readonly string[];
  readonly fields: Readonly<Record<string, json.JsonSchema>>;
}

export const eventsSchemaWith = ({ types, fields }: AddedEvents) =>
  json.object({
    events: json.list<MerchantEvent>(
      'The events, in order.',
      json.named('MerchantEvent')({ ...eventFields, type: eventType(types), ...fields }),
    ),
    next_after: json.count('The `after` of the next request.', 1_795_226_589_901, int64),
    has_more: json.yesOrNo('Whether more events are available now.', false),
  });

export type MerchantEvents = json.ValueOf<ReturnType<typeof eventsSchemaWith>>;

export const auditLogSchema = json.object({
  entries: json.list(
    'The entries, newest first. Repeats of frequent actions within an hour share one entry.',
    json.named('AuditEntry')({
      position: json.count('The number of the entry in your account, which increases with time.', 34),
      created_at: json.time('When it happened.'),
      actor: json.text(
        "The person's email address, or `operator` for the command line.",
        'anna@shop.example',
      ),
      action: json.openWord('AuditAction', 'What was done.', Object.keys(auditActions)),
      target: json.textOrNull('What it was done to, or null.', 'Web shop (service_live_…R8mQ)'),
      address: json.textOrNull('The IP address, or null for the command line.', '203.0.113.7'),
    }),
  ),
  next: json.countOrNull('Pass it as `before` to get the next page, or null on the last one.', null),
});

export const merchantDaysSchema = json.object({
  days: json.list(
    "The days, oldest first, in the account's time zone.",
    json.named('MerchantDay')({
      date: json.text('The date.', '2026-11-21', { format: 'date' }),
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
