import type { IpnTokens } from '../payment/ipn-token.ts';
import { formatCents, formatOptionalCents, formatUnits } from '../payment/money.ts';
import type { Payment } from '../payment/payment.ts';
import { SETTLEMENT_COIN } from '../payment/payment-events.ts';
import { checkoutUrl, shortCodeOf } from '../payment/payment-id.ts';
import type { ValueOf } from './json-schema.ts';
import type { createdPaymentSchema, paymentStatusSchema } from './payment-schemas.ts';

export interface PresentContext {
  readonly tokens: IpnTokens;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

export const isoTime = (timeMs: number) => new Date(timeMs).toISOString();
export const isoTimeOrNull = (timeMs: number | null) => (timeMs === null ? null : isoTime(timeMs));

const presentCharge = (payment: Payment) => ({
  amount: formatCents(payment.amountCents),
  original_amount: formatOptionalCents(payment.originalAmountCents),
  customer_fee_amount: formatOptionalCents(payment.customerFeeCents),
  pass_fee_to_customer: payment.passFeeToCustomer,
});

/** Answer to a create. `status` is as at creation, because a replay must get the same answer. */
export function presentCreatedPayment(
  { tokens, baseUrl }: PresentContext,
  payment: Payment,
): ValueOf<typeof createdPaymentSchema> {
  const shortCode = shortCodeOf(payment.id);
  return {
    payment_id: payment.id,
    ipn_token: tokens.create(payment.id, payment.tokenFingerprint),
    checkout_url: checkoutUrl(baseUrl, payment),
    short_code: shortCode,
    short_url: `${baseUrl}/s/${shortCode}`,
    // Payments created by API always have one.
    callback_url: payment.callbackUrl ?? '',
    address_in: payment.depositAddress,
    polygon_address_in: payment.depositAddress,
    payment_type: 'card',
    provider: payment.provider,
    ...presentCharge(payment),
    fee_percent: payment.feeBasisPoints / 100,
    status: 'unpaid',
  };
}

export function presentPaymentStatus(payment: Payment): ValueOf<typeof paymentStatusSchema> {
  return {
    payment_id: payment.id,
    status: payment.status,
    forward_status: payment.forwardStatus,
    ...presentCharge(payment),
    currency: payment.currency,
    coin: SETTLEMENT_COIN,
    value_coin: formatUnits(payment.receivedUnits),
    forwarded_amount: formatUnits(payment.forwardedUnits),
    txid_in: payment.txidIn,
    txid_out: payment.txidOut,
    address_in: payment.depositAddress,
    paid_at: isoTimeOrNull(payment.paidAtMs),
    created_at: isoTime(payment.createdAtMs),
  };
}
