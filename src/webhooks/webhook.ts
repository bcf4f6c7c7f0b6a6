import { createHmac } from 'node:crypto';
import { formatCents, formatOptionalCents, formatUnits } from '../payment/money.ts';
import { isDirect, type Payment, type PaymentId } from '../payment/payment.ts';
import type { DeliveryOutcome } from './callback-guard.ts';

/**
 * The life of a webhook: pending → sending → delivered | failed | blocked | unknown.
 * `sending` is committed before the socket opens; what a crash leaves in `sending` becomes `unknown` and is never
 * sent again: an event is sent at most once.
 */
export type WebhookStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'blocked' | 'unknown';

/** A webhook as it is queued, in the transaction that made its payment paid. */
export interface NewWebhook {
  readonly event: 'payment.paid' | 'payment.forwarded';
  /** The body's fields save the timestamp, which is set when the event is sent. */
  readonly fields: Readonly<Record<string, string | boolean | null>>;
}

/** A webhook as it is stored. Its id is `webhookIdOf` its payment and event. */
export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly url: string;
  /** Host of the URL, without the port. */
  readonly host: string;
  readonly tokenFingerprint: string;
  readonly status: WebhookStatus;
  readonly createdAtMs: number;
  readonly claimedAtMs: number | null;
  readonly result: WebhookResult | null;
}

/** A `pending` webhook, with the fields by which the sender chooses. */
export type WaitingWebhook = Pick<Webhook, 'id' | 'accountId' | 'host' | 'createdAtMs'>;

/** The id of a payment's webhook: each event exists once. */
export function webhookIdOf(paymentId: PaymentId, event: NewWebhook['event']): string {
  return `${paymentId}:${event}`;
}

/** The host that a callback leads to, for counting deliveries; never throws, because a payment is paid meanwhile. */
export function hostOfCallback(callbackUrl: string): string {
  return URL.parse(callbackUrl)?.hostname.replace(/\.$/, '') ?? '';
}

/** Outcome of the one attempt, with what was sent. */
export interface WebhookResult extends DeliveryOutcome {
  /** The exact body and signature that were sent; null when nothing was. */
  readonly body: string | null;
  readonly signature: string | null;
  readonly finishedAtMs: number;
}

const USER_AGENT = 'card-checkout-webhook/1';

/** The signature of a webhook: hex HMAC-SHA256 of the raw body under the payment's ipn_token. */
export function signWebhook(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/** The headers of a webhook, exactly as they are sent; `hostname` without brackets. */
export function webhookHeaders(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  bodyBytes: number,
  signature: string | null,
): Readonly<Record<string, string>> {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return {
    Host: port === 443 ? host : `${host}:${port}`,
    'User-Agent': USER_AGENT,
    'Content-Type': 'application/json',
    'Content-Length': String(bodyBytes),
    ...(signature === null ? {} : { 'X-Service-Signature': signature }),
    Connection: 'close',
  };
}

/** The settlement asset's ticker on the wire. */
export const SETTLEMENT_COIN = 'polygon_usdc';

/**
 * The `payment.paid` webhook of a payment that has just become paid; the timestamp is added when it is sent. Nothing
 * of a direct payment is forwarded by then.
 */
export function paidWebhook(payment: Payment): NewWebhook {
  return {
    event: 'payment.paid',
    fields: {
      event: 'payment.paid',
      id: payment.id,
      paymentId: payment.id,
      status: 'paid',
      amount: formatCents(payment.amountCents),
      originalAmount: formatOptionalCents(payment.originalAmountCents),
      customerFeeAmount: formatOptionalCents(payment.customerFeeCents),
      passFeeToCustomer: payment.passFeeToCustomer,
      currency: payment.currency,
      coin: SETTLEMENT_COIN,
      receivedAmount: formatUnits(payment.receivedUnits),
      forwardedAmount: isDirect(payment) ? null : formatUnits(payment.forwardedUnits),
      txidIn: payment.txidIn,
      txidOut: isDirect(payment) ? null : payment.txidOut,
      note: payment.note,
      email: payment.email,
    },
  };
}

/** The `payment.forwarded` webhook of a direct payment that has just been completed; the timestamp is added when it is sent. */
export function forwardedWebhook(payment: Payment): NewWebhook {
  return {
    event: 'payment.forwarded',
    fields: {
      event: 'payment.forwarded',
      paymentId: payment.id,
      forwardTxid: payment.txidOut,
      amountForwarded: formatUnits(payment.forwardedUnits),
      toWallet: payment.payoutAddress,
    },
  };
}
