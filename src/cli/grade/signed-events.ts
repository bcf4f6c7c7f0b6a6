import { createHmac } from 'node:crypto';
import type { GradedOrder } from './stand-in-service.ts';

/** Hex HMAC-SHA256, as the service signs. */
export function sign(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/** The fields of a `payment.paid` event about this order. */
export function paidFields(order: GradedOrder, timestampSeconds: number): Readonly<Record<string, unknown>> {
  return {
    event: 'payment.paid',
    id: order.paymentId,
    paymentId: order.paymentId,
    status: 'paid',
    amount: order.amount,
    originalAmount: null,
    customerFeeAmount: null,
    passFeeToCustomer: false,
    currency: order.currency,
    coin: 'polygon_usdc',
    receivedAmount: '20.000000',
    forwardedAmount: '19.500000',
    txidIn: `0x${'1'.repeat(64)}`,
    txidOut: `0x${'2'.repeat(64)}`,
    note: 'Grüße 👋 <b>&amp;</b>',
    email: null,
    timestamp: timestampSeconds,
  };
}

/**
 * JSON that nobody would write again in the same way: spaces, an escaped letter, a number with an exponent, a field that is
 * not in the documentation. Whoever verifies a body that was parsed and written again refuses it.
 */
export function formattingVariants(fields: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify({ ...fields, added_later: 1 }, null, 1);
  return `${text.replace('"added_later": 1', '"added_later": 1.0e0').replace('ü', '\\u00fc')}\n`;
}
