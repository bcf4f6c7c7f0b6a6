import { checkoutUrl } from '../../payment/checkout-url.ts';
import { formatCents, formatSignedCents, formatUnits } from '../../payment/money.ts';
import type { ChainPosition, Payment } from '../../payment/payment.ts';
import { shortCodeOf } from '../../payment/payment-id.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import { openRestOf } from '../../payment/session-charge.ts';
import { appliedUsdRate } from '../../reports/journal-and-statement.ts';
import type { DayStatistics } from '../../reports/read-statistics.ts';
import type { PaymentHistory } from '../../webhooks/payment-history.ts';
import type { Webhook } from '../../webhooks/send-webhook.ts';
import type { ValueOf } from '../json-schema.ts';
import { isoTime, isoTimeOrNull, type PresentContext, presentPaymentStatus } from '../payment-routes.ts';
import type {
  checkoutSchema,
  directPaymentSchema,
  Expansion,
  merchantDaysSchema,
  merchantPaymentSchema,
} from './merchant-schemas.ts';

type MerchantPayment = ValueOf<typeof merchantPaymentSchema>;

function presentCreated({ baseUrl, tokens }: PresentContext, payment: Payment) {
  return {
    ...presentMerchantPayment(baseUrl, { payment, sessions: [] }),
    ipn_token: tokens.create(payment.id, payment.tokenFingerprint),
  };
}

export function presentCheckout(context: PresentContext, payment: Payment): ValueOf<typeof checkoutSchema> {
  const shortUrl = `${context.baseUrl}/s/${shortCodeOf(payment.id)}`;
  return { ...presentCreated(context, payment), short_url: shortUrl };
}

export function presentDirectPayment(
  context: PresentContext,
  payment: Payment,
): ValueOf<typeof directPaymentSchema> {
  return {
    ...presentCreated(context, payment),
    usdc_amount: formatUnits(payment.paidThresholdUnits),
  };
}

export function presentMerchantPayment(
  baseUrl: string,
  view: Pick<PaymentView, 'payment' | 'sessions'>,
): MerchantPayment {
  const { payment } = view;
  return {
    ...presentPaymentStatus(payment),
    provider: payment.provider,
    fee_percent: payment.feeBasisPoints / 100,
    usd_rate: appliedUsdRate(payment),
    payout_address: payment.payoutAddress,
    checkout_url: checkoutUrl(baseUrl, payment),
    email: payment.email,
    note: payment.note,
    reference: payment.reference,
    metadata: payment.metadata ?? {},
    items: (payment.orderDetails?.items ?? []).map(({ name, quantity, amountCents }) => ({
      name,
      quantity,
      amount: formatSignedCents(amountCents),
    })),
    return_url: payment.orderDetails?.returnUrl ?? null,
    cancel_url: payment.orderDetails?.cancelUrl ?? null,
    expires_at: isoTimeOrNull(payment.deadlineMs),
    amount_mismatch: payment.amountMismatch,
    rest: presentRest(baseUrl, view),
    cancel_reason: payment.cancelReason,
  };
}

function presentRest(baseUrl: string, view: Pick<PaymentView, 'payment' | 'sessions'>) {
  const rest = openRestOf(view);
  if (rest === null) return null;
  const { payment } = view;
  return {
    amount: formatCents(rest.amountCents),
    usdc_amount: formatUnits(payment.paidThresholdUnits - payment.receivedUnits),
    url: checkoutUrl(baseUrl, payment),
  };
}

export function presentExpandedPayment(
  baseUrl: string,
  history: PaymentHistory,
  asked: ReadonlySet<Expansion>,
): MerchantPayment {
  const { deposits, releases, finalBlock } = history.observations;
  return {
    ...presentMerchantPayment(baseUrl, history),
    ...(asked.has('deposits') && {
      deposits: deposits.map((deposit) => ({
        ...placeOf(deposit, finalBlock),
        amount: formatUnits(deposit.units),
      })),
    }),
    ...(asked.has('releases') && {
      releases: releases.map((release) => ({
        ...placeOf(release, finalBlock),
        forwarded_amount: formatUnits(release.toMerchantUnits),
        fee_amount: formatUnits(release.feeUnits),
      })),
    }),
    ...(asked.has('sessions') && { sessions: history.sessions.map(presentSession) }),
    ...(asked.has('webhooks') && { webhooks: history.webhooks.map(presentWebhook) }),
  };
}

const placeOf = ({ transactionHash, blockNumber }: ChainPosition, finalBlock: number) => ({
  transaction: transactionHash,
  block_number: blockNumber,
  is_final: blockNumber <= finalBlock,
});

const presentSession = (session: PaymentView['sessions'][number]) => ({
  provider: session.provider,
  charged_amount: formatCents(session.chargedCents),
  quoted_amount: session.quotedUnits === null ? null : formatUnits(session.quotedUnits),
  progress: session.progress,
  created_at: isoTime(session.createdAtMs),
  expires_at: isoTime(session.expiresAtMs),
});

/** Presents a webhook without body and signature, which a key with read access must not get. */
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

export function presentDay(day: DayStatistics): ValueOf<typeof merchantDaysSchema>['days'][number] {
  const amounts = [...day.paidCents].map(([currency, cents]) => [currency, formatCents(cents)]);
  return {
    date: day.date,
    created: day.created,
    converted: day.converted,
    paid: day.paid,
    paid_amounts: Object.fromEntries(amounts),
    received_amount: formatUnits(BigInt(day.receivedUnits)),
    service_fees: formatUnits(BigInt(day.feeUnits)),
  };
}
