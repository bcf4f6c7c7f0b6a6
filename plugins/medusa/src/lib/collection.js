// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { MathBN } from '@medusajs/framework/utils';

export const IDENTIFIER = 'card-checkout';

const fields = [
  'id',
  'amount',
  'currency_code',
  'captured_amount',
  'payment_sessions.id',
  'payment_sessions.provider_id',
  'payment_sessions.amount',
  'payment_sessions.currency_code',
  'payment_sessions.authorized_at',
  'payments.id',
  'payments.provider_id',
  'payments.data',
  'payments.canceled_at',
  'payments.refunds.id',
  'payments.payment_session_id',
  'cart.id',
  'cart.total',
  'cart.currency_code',
  'order.id',
  'order.display_id',
];

/** Reads a payment collection with its sessions, payments, cart and order; undefined if it was deleted. */
export async function readCollection(query, id) {
  const { data } = await query.graph({ entity: 'payment_collection', fields, filters: { id } });
  return data[0];
}

/** Formats an amount with two decimals, as the service does. */
export const decimal = (amount) => MathBN.convert(amount).toFixed(2);

const isOurs = ({ provider_id: id }) => id.startsWith(`pp_${IDENTIFIER}`);

/** Returns the Medusa payment on which a card-checkout payment is booked. */
export function bookingOf(collection, paymentId) {
  return collection.payments.find((payment) => isOurs(payment) && payment.data.payment_id === paymentId);
}

/** Describes a payment so that a person finds it in Medusa's admin. */
export function describe(collection, paymentId) {
  const order = collection?.order ? `order ${collection.order.display_id}` : 'no order';
  return `payment ${paymentId}, cart ${collection?.cart?.id ?? 'unknown'}, ${order}`;
}

/**
 * Returns the session that a payment pays: same amount, nothing booked yet. A payment is booked only once.
 *
 * Also compares the cart, because Medusa keeps the session if a refused change of the cart is sent again.
 */
export function sessionPaidBy(collection, payment) {
  if (payment.status !== 'paid' || bookingOf(collection, payment.payment_id)) return undefined;
  if (collection.cart && !isPriceOf(collection.cart, payment)) return undefined;
  return collection.payment_sessions.find(
    (session) =>
      isOurs(session) &&
      session.authorized_at === null &&
      isPriceOf({ total: session.amount, currency_code: session.currency_code }, payment),
  );
}

function isPriceOf({ total, currency_code: currency }, payment) {
  return decimal(total) === payment.amount && currency.toUpperCase() === payment.currency;
}
