import type { IpnTokens } from '../../domain/ipn-token.ts';
import { formatCents, formatUnits } from '../../domain/money.ts';
import { formatOptionalCents, SETTLEMENT_COIN } from '../../domain/paid-webhook.ts';
import type { Payment } from '../../domain/payment.ts';
import { MULTI_PROVIDER } from '../../domain/provider-catalogue.ts';
import { shortCodeOf } from '../../domain/short-code.ts';
import type { AnswerOf } from './answer-schema.ts';
import type { createdPaymentSchema, paymentStatusSchema } from './payment-schemas.ts';

export interface PresentContext {
  readonly tokens: IpnTokens;
  /** Without a slash at the end. */
  readonly baseUrl: string;
}

/** The answer to a create; a replay of an idempotent request gets the same one, so `status` is as at creation. */
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
function checkoutUrl(baseUrl: string, { id, provider, email }: Payment): string {
  const page = `${baseUrl}/pay/${id}`;
  const isSingle = provider !== MULTI_PROVIDER;
  if (email === null) return isSingle ? `${page}?auto=1` : page;
  // A bare "+" would be read as a space, a bare "'" could end an attribute in a merchant's page.
  const encoded = encodeURIComponent(email).replaceAll("'", '%27');
  return `${page}?${isSingle ? 'auto=1&' : ''}email=${encoded}`;
}
