import type { CreatedKey } from '../../accounts/api-keys.ts';
import type { Account } from '../../domain/account.ts';
import { keyScopes } from '../../domain/api-key.ts';
import { currencies, formatCents, formatUnits } from '../../domain/money.ts';
import { amountMismatches, type Payment } from '../../domain/payment.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import { DIRECT_PROVIDER, MULTI_PROVIDER, providerIds } from '../../domain/provider-catalogue.ts';
import { openRestOf } from '../../domain/session-charge.ts';
import { type NumberedEvent, paymentEventTypes, type Webhook } from '../../domain/webhook.ts';
import type { PaymentHistory } from '../../payments/payment-history.ts';
import type { DayStatistics } from '../../payments/read-statistics.ts';
import * as json from '../api/json-schema.ts';
import {
  checkoutUrl,
  type PresentContext,
  paymentStatusSchema,
  presentPaymentStatus,
} from '../api/payment-schemas.ts';

/** Parts of a payment that an answer contains on request. */
export const expansions = ['deposits', 'releases', 'sessions', 'webhooks'] as const;
export type Expansion = (typeof expansions)[number];

export const isoTime = (timeMs: number) => new Date(timeMs).toISOString();
export const isoTimeOrNull = (timeMs: number | null) => (timeMs === null ? null : isoTime(timeMs));

export const EXAMPLE_HASH = `0x${'5b484cd3e9340db0'.repeat(4)}`;
/** The answer to a shop that is connected. */
export const connectionSchema = json.object({
  api_key: json.text('The API key. It is shown only here.', 'service_live_…'),
  key_id: json.text("The key's id.", 'key_5b484cd3e9340db05b48'),
  scopes: json.list('What the key may do.', { type: 'string', enum: keyScopes }, ['create', 'read']),
  callback_host: json.textOrNull('The only host that callbacks may name, or null for any.', 'shop.example'),
  account_id: json.text("The account's id.", 'acc_5b484cd3e9340db05b48'),
  account_name: json.text("The account's name.", 'Example shop'),
  wallet: json.textOrNull("The account's payout wallet, or null.", null),
});

export function presentConnection({
  key,
  plainKey,
  account,
}: CreatedKey & { readonly account: Account }): Record<string, unknown> {
  return {
    api_key: plainKey,
    key_id: key.id,
    scopes: key.scopes,
    callback_host: key.callbackHost,
    account_id: account.id,
    account_name: account.name,
    wallet: account.wallet,
  };
}

const chainPosition = {
  transaction: json.text('The transaction hash.', EXAMPLE_HASH),
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
      provider: { type: 'string', enum: providerIds, description: 'The provider.' },
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
      http_status: { type: ['integer', 'null'], description: 'The HTTP status that the receiver answered.' },
      reason: json.textOrNull('Why it was not delivered, or null.', null),
      created_at: json.time('When the webhook was queued.'),
      finished_at: json.timeOrNull('When the delivery ended, or null.'),
    }),
  ),
} satisfies Record<Expansion, json.JsonSchema>;

const statusFields = json.answerSchemaOf(paymentStatusSchema)['properties'] as Readonly<
  Record<string, json.JsonSchema>
>;

const paymentFields = {
  ...statusFields,
  provider: json.oneOf('The provider that the payment was created with.', [
    MULTI_PROVIDER,
    DIRECT_PROVIDER,
    ...providerIds,
  ]),
  fee_percent: { type: 'number', description: "The account's fee in percent.", examples: [2.5] },
  payout_address: json.text('The payout wallet.', '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'),
  checkout_url: json.text(
    'The page on which the customer pays.',
    'https://pay.example/pay/01a1fbd7-b7b3-7002-be38',
  ),
  email: json.textOrNull("The customer's e-mail address, or null. It is not verified.", 'ada@example.com'),
  note: json.textOrNull('The note, or null. Only the merchant sees it.', 'Order 1042'),
  amount_mismatch: json.oneOfOrNull(
    'Whether clearly less or clearly more than the price arrived, or null.',
    amountMismatches,
  ),
  rest: {
    anyOf: [
      json.object({
        amount: json.text('The amount that a provider charges, in the currency of the payment.', '14.80'),
        usdc_amount: json.usdc('The USDC to send from a wallet instead.'),
        url: json.text('The page on which the customer pays the rest.', 'https://pay.example/pay/01a1fbd7'),
      }),
      { type: 'null' },
    ],
    description:
      'What is missing of an open, partially paid payment, and the link to pay it. Otherwise null.',
    examples: [null],
  },
  cancel_reason: json.oneOfOrNull('Why the payment was canceled, or null.', [
    'expired',
    'merchant',
    'operator',
  ]),
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

export function presentDirectPayment(
  { baseUrl, tokens }: PresentContext,
  payment: Payment,
): Record<string, unknown> {
  return {
    ...presentMerchantPayment(baseUrl, payment),
    ipn_token: tokens.create(payment.id, payment.tokenFingerprint),
    usdc_amount: formatUnits(payment.paidThresholdUnits),
  };
}

export const merchantPaymentListSchema = json.object({
  payments: json.list('The payments, newest first.', { $ref: '#/components/schemas/MerchantPayment' }),
  next: json.textOrNull(
    'The `before` of the next page, or null at the end. A page can be short and still have a next one.',
    null,
  ),
});

export const merchantEventsSchema = json.object({
  events: json.list(
    'The events in their order.',
    json.object({
      number: json.count("The event's number. The numbers of an account are consecutive.", 42),
      type: { type: 'string', enum: Object.keys(paymentEventTypes), description: 'What happened.' },
      created_at: json.time('When it happened.'),
      payment: { $ref: '#/components/schemas/MerchantPayment' },
      refund: {
        anyOf: [{ $ref: '#/components/schemas/Refund' }, { type: 'null' }],
        description: 'For an event of a refund: the refund as it is now. Null for other events.',
      },
    }),
  ),
  next_after: json.count('The `after` of the next request.', 42),
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
      paid_amounts: {
        type: 'object',
        description: 'The charged amounts of the payments that became paid, by currency.',
        propertyNames: { enum: currencies },
        additionalProperties: { type: 'string' },
      },
      received_amount: json.text('USDC received for these payments when they became paid.', '42.000000'),
      service_fees: json.text('The part of it that the service kept.', '1.050000'),
    }),
  ),
});

/** A payment of the list or of an event, with nothing expanded. */
export function presentMerchantPayment(baseUrl: string, payment: Payment): Record<string, unknown> {
  return {
    ...presentPaymentStatus(payment),
    provider: payment.provider,
    fee_percent: payment.feeBasisPoints / 100,
    payout_address: payment.payoutAddress,
    checkout_url: checkoutUrl(baseUrl, payment),
    email: payment.email,
    note: payment.note,
    amount_mismatch: payment.amountMismatch,
    rest: presentRest(baseUrl, payment),
    cancel_reason: payment.cancelReason,
  };
}

function presentRest(baseUrl: string, payment: Payment): Record<string, unknown> | null {
  const rest = openRestOf(payment);
  if (rest === null) return null;
  return {
    amount: formatCents(rest.amountCents),
    usdc_amount: formatUnits(payment.paidThresholdUnits - payment.receivedUnits),
    url: checkoutUrl(baseUrl, payment),
  };
}

/** A payment with the parts that were asked for. */
export function presentExpandedPayment(
  baseUrl: string,
  history: PaymentHistory,
  asked: ReadonlySet<Expansion>,
): Record<string, unknown> {
  const present: Record<Expansion, () => unknown> = {
    deposits: () => presentDeposits(history),
    releases: () => presentReleases(history),
    sessions: () => presentSessions(history),
    webhooks: () => history.webhooks.map(presentWebhook),
  };
  const parts = expansions.filter((name) => asked.has(name)).map((name) => [name, present[name]()]);
  return { ...presentMerchantPayment(baseUrl, history.payment), ...Object.fromEntries(parts) };
}

function presentDeposits({ observations: { deposits, finalBlock } }: PaymentView) {
  return deposits.map(({ transactionHash, blockNumber, units }) => ({
    transaction: transactionHash,
    block_number: blockNumber,
    is_final: blockNumber <= finalBlock,
    amount: formatUnits(units),
  }));
}

function presentReleases({ observations: { releases, finalBlock } }: PaymentView) {
  return releases.map(({ transactionHash, blockNumber, toMerchantUnits, feeUnits }) => ({
    transaction: transactionHash,
    block_number: blockNumber,
    is_final: blockNumber <= finalBlock,
    forwarded_amount: formatUnits(toMerchantUnits),
    fee_amount: formatUnits(feeUnits),
  }));
}

function presentSessions({ sessions }: PaymentView) {
  return sessions.map(({ provider, chargedCents, quotedUnits, progress, createdAtMs, expiresAtMs }) => ({
    provider,
    charged_amount: formatCents(chargedCents),
    quoted_amount: quotedUnits === null ? null : formatUnits(quotedUnits),
    progress,
    created_at: isoTime(createdAtMs),
    expires_at: isoTime(expiresAtMs),
  }));
}

/** Neither body nor signature: both would show the `ipn_token`'s work to a key that may only read. */
function presentWebhook({ event, status, createdAtMs, result }: Webhook) {
  return {
    event,
    status,
    http_status: result?.httpStatus ?? null,
    reason: result?.reason ?? null,
    created_at: isoTime(createdAtMs),
    finished_at: isoTimeOrNull(result?.finishedAtMs ?? null),
  };
}

export function presentEvent(
  baseUrl: string,
  { number, type, atMs }: NumberedEvent,
  payment: Payment,
  refund: Readonly<Record<string, unknown>> | null,
) {
  const shown = presentMerchantPayment(baseUrl, payment);
  return { number, type, created_at: isoTime(atMs), payment: shown, refund };
}

export function presentDay({ date, created, converted, paid, ...sums }: DayStatistics) {
  const amounts = [...sums.paidCents].map(([currency, cents]) => [currency, formatCents(cents)]);
  return {
    date,
    created,
    converted,
    paid,
    paid_amounts: Object.fromEntries(amounts),
    received_amount: formatUnits(BigInt(sums.receivedUnits)),
    service_fees: formatUnits(BigInt(sums.feeUnits)),
  };
}
