// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { bookingOf, decimal, describe, readCollection, sessionPaidBy } from './collection.js';
import { tell } from './tell.js';

/**
 * Reads a payment. If it is paid, books it on its session and completes the cart. Reports money that belongs to no
 * order. Safe to repeat. Throws if it must be repeated.
 */
export async function settle(cradle, paymentId) {
  const { cardCheckout, workflows } = cradle;
  const collectionId = await cardCheckout.collectionOf(paymentId);
  if (collectionId === null) return;
  const payment = await cardCheckout.client.payments.get(paymentId);
  if (payment.status !== 'paid') return;
  const session = await sessionToComplete(cradle, collectionId, payment);
  if (session === null) return;
  const input = { action: 'captured', data: { session_id: session, amount: payment.amount } };
  cardCheckout.settling.set(session, paymentId);
  const { errors } = await workflows
    .run('process-payment-workflow', { input, throwOnError: false })
    .finally(() => cardCheckout.settling.delete(session));
  if ((await sessionToComplete(cradle, collectionId, payment)) === null) return;
  throw new Error(`paid, but Medusa made no order: ${errors?.[0]?.error?.message ?? 'see its log'}`);
}

/** Returns the session that turns a paid payment into an order; null if it has one or, after a notice, gets none. */
async function sessionToComplete(cradle, collectionId, payment) {
  const collection = await readCollection(cradle.query, collectionId);
  const booking = collection && bookingOf(collection, payment.payment_id);
  if (booking && collection.order) {
    await takeBackAmount(cradle, collection, payment);
    return null;
  }
  const isGivenBack = booking && (booking.canceled_at !== null || booking.refunds.length > 0);
  const session = booking?.payment_session_id ?? (collection && sessionPaidBy(collection, payment)?.id);
  if (session && !isGivenBack) return session;
  const why = isGivenBack
    ? 'Medusa could not make the order, and has refunded the payment.'
    : 'It was replaced by another checkout, or the cart has another total now. Refund it in the dashboard of card-checkout.';
  const { payment_id: id, amount, currency } = payment;
  const text = `${amount} ${currency} were paid (${describe(collection, id)}). ${why}`;
  await tell(cradle, `${id} without order`, 'Money without an order', text);
  return null;
}

/**
 * Restores the collection's amount after a change of the cart that was refused because money had arrived. Medusa leaves
 * the changed total on the collection and would show the paid order as partially paid.
 */
async function takeBackAmount({ payment: payments }, collection, payment) {
  const { id, amount, currency_code, captured_amount: captured } = collection;
  const isKept = decimal(amount) === payment.amount && currency_code.toUpperCase() === payment.currency;
  if (isKept || decimal(captured) !== payment.amount) return;
  await payments.updatePaymentCollections(id, {
    amount: payment.amount,
    currency_code: payment.currency.toLowerCase(),
    status: 'completed',
    completed_at: new Date(),
  });
}
