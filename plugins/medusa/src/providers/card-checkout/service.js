// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { ApiError } from '@card-checkout/sdk';
import { AbstractPaymentProvider, MathBN, MedusaError } from '@medusajs/framework/utils';
import {
  bookingOf,
  decimal,
  describe,
  IDENTIFIER,
  readCollection,
  sessionPaidBy,
} from '../../lib/collection.js';
import { tell } from '../../lib/tell.js';

const MAXIMUM_LINES = 50;
const MAXIMUM_NAME = 200;
const plainEmail = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9.-]{1,180}$/i;

const sessionFields = ['id', 'payment_collection.id', 'payment_collection.cart.id'];
const lineFields = ['items.*', 'items.total', 'shipping_methods.*', 'shipping_methods.total'];
const cartFields = ['id', 'email', 'total', ...lineFields];

/**
 * Payment provider of Medusa. The browser sees a session's `data`, which contains only the payment id and the checkout
 * link. Neither proves a payment, so the provider reads the status from the service.
 */
export default class CardCheckoutProvider extends AbstractPaymentProvider {
  static identifier = IDENTIFIER;

  /** Returns the module, resolved on each call because it is loaded after its provider. */
  get account() {
    const { cardCheckout } = this.container;
    if (cardCheckout) return cardCheckout;
    throw new MedusaError(
      MedusaError.Types.INVALID_DATA,
      '@card-checkout/medusa is missing under plugins in medusa-config: add it there with its options',
    );
  }

  async initiatePayment(input) {
    return this.create(input, input.data.session_id);
  }

  /** Replaces the checkout if the amount has changed. */
  async updatePayment(input) {
    const { data, amount, currency_code: currency } = input;
    const payment = await this.account.client.payments.get(data.payment_id);
    const isSame = payment.amount === decimal(amount) && payment.currency === currency.toUpperCase();
    if (isSame && payment.status !== 'canceled') return { data };
    await this.close(data.payment_id);
    return this.create(input, `${data.session_id}-${data.payment_id}`);
  }

  async deletePayment({ data }) {
    if (data?.payment_id) await this.close(data.payment_id);
    return {};
  }

  /**
   * Authorizes and captures at once, because the money has arrived. Reads one payment: the session's, or an earlier one
   * of the collection that `settle` found paid (see `close`).
   */
  async authorizePayment({ data }) {
    const session = await this.readSession(data.session_id);
    const collection = await readCollection(this.container.query, session.payment_collection.id);
    const paymentId = this.account.settling.get(session.id) ?? data.payment_id;
    const payment = await this.account.client.payments.get(paymentId);
    if (sessionPaidBy(collection, payment)?.id === session.id)
      return { status: 'captured', data: { ...data, ...shown(payment) } };
    return { status: payment.status === 'canceled' ? 'canceled' : 'requires_more', data };
  }

  async getPaymentStatus({ data }) {
    const { status } = await this.account.client.payments.get(data.payment_id);
    return { status: { paid: 'captured', canceled: 'canceled' }[status] ?? 'requires_more', data };
  }

  async retrievePayment({ data }) {
    return { data };
  }

  async capturePayment({ data }) {
    return { data };
  }

  /** Changes nothing. Medusa calls it before a capture, and after a failed completion, which a refund follows. */
  async cancelPayment({ data }) {
    return { data };
  }

  /** Opens a refund. The customer names a wallet, and the shop's staff confirm it and send the USDC. */
  async refundPayment({ data, amount, context }) {
    const charge = decimal(amount);
    const refund = await this.account.client.refunds
      .create(data.payment_id, { charge_amount: charge }, { idempotencyKey: context.idempotency_key })
      .catch(asMedusaError);
    const collection = await this.readCollectionOf(data.payment_id);
    await tell(
      this.container,
      refund.refund_id,
      'A refund is open',
      `${refund.amount} USDC for ${charge} of the charge (${describe(collection, data.payment_id)}). Nothing is sent yet: give the customer ` +
        `${refund.address_url} to name a wallet, then confirm it and send the USDC in the dashboard of card-checkout.`,
    );
    return { data };
  }

  /** Ignores webhooks, which have their own route that refuses forged ones. */
  async getWebhookActionAndData() {
    return { action: 'not_supported' };
  }

  async create({ data, amount, currency_code: currency, context }, idempotencyKey) {
    const { id, payment_collection: collection } = await this.readSession(data.session_id);
    const cart = collection.cart && (await this.read('cart', collection.cart.id, cartFields));
    const { callback, payoutAddress, returnUrl, cancelUrl } = this.account.options;
    const email = cart?.email ?? context?.customer?.email;
    const request = {
      address: payoutAddress,
      callback,
      amount: decimal(amount),
      currency: currency.toUpperCase(),
      email: plainEmail.test(email) ? email : undefined,
      reference: id,
      metadata: cart && { cart: cart.id },
      items: cart && linesOf(cart, amount),
      return_url: returnUrl?.replaceAll('{cart_id}', cart?.id ?? ''),
      cancel_url: cancelUrl?.replaceAll('{cart_id}', cart?.id ?? ''),
    };
    const payment = await this.account.client.merchantCheckouts
      .create(request, { idempotencyKey })
      .catch(asMedusaError);
    await this.account.createCardCheckoutPayments({ id: payment.payment_id, collection_id: collection.id });
    return { id: payment.payment_id, status: 'pending', data: { session_id: id, ...shown(payment) } };
  }

  async readSession(id) {
    const session = await this.read('payment_session', id, sessionFields);
    if (session) return session;
    throw new MedusaError(MedusaError.Types.NOT_FOUND, `there is no payment session ${id}`);
  }

  async readCollectionOf(paymentId) {
    return readCollection(this.container.query, await this.account.collectionOf(paymentId));
  }

  async read(entity, id, fields) {
    return (await this.container.query.graph({ entity, fields, filters: { id } })).data[0];
  }

  /**
   * Cancels a checkout that is being replaced. Refuses if money has arrived, because an order will follow. A checkout
   * stays open while the customer is paying. Its money counts if the total is unchanged, and is reported otherwise.
   */
  async close(paymentId) {
    try {
      await this.account.client.payments.cancel(paymentId);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) {
        this.container.logger.warn(`card-checkout: ${paymentId} was not canceled: ${error.message}`);
        return;
      }
      const { status, value_coin: received } = await this.account.client.payments.get(paymentId);
      if (status === 'canceled' || Number(received) === 0) return;
      const collection = await this.readCollectionOf(paymentId);
      if (collection && bookingOf(collection, paymentId)) return;
      throw new MedusaError(
        MedusaError.Types.NOT_ALLOWED,
        'Money has arrived for this cart. Wait for the order instead of changing it.',
      );
    }
  }
}

/** Returns the data that the browser may see. */
const shown = ({ payment_id, checkout_url }) => ({ payment_id, checkout_url });

/** Returns the lines of the order, which add up to the amount; none if there are too many. */
function linesOf(cart, amount) {
  const lines = [...cart.items, ...cart.shipping_methods].map(
    ({ title, name, variant_title, quantity, total }) => ({
      name: lineOf([title ?? name, variant_title].filter(Boolean).join(', ')),
      // Medusa allows fractional quantities, but the service refuses them.
      quantity: Number.isInteger(quantity) ? quantity : 1,
      amount: decimal(total),
    }),
  );
  const rest = decimal(MathBN.sub(decimal(amount), MathBN.sum(0, ...lines.map((line) => line.amount))));
  if (Number(rest) !== 0) lines.push({ name: 'Credit and rounding', quantity: 1, amount: rest });
  return lines.length > 0 && lines.length <= MAXIMUM_LINES ? lines : undefined;
}

/** Converts a name to one line without characters that the service refuses. */
const lineOf = (name) =>
  name
    .slice(0, MAXIMUM_NAME)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim() || 'Item';

/** Converts refusals of the service to errors that Medusa's API shows. Rethrows other errors. */
function asMedusaError(error) {
  if (!(error instanceof ApiError) || error.isTemporary) throw error;
  throw new MedusaError(MedusaError.Types.NOT_ALLOWED, `card-checkout: ${error.message}`);
}
