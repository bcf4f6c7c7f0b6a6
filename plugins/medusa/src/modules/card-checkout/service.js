// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { createClient } from '@card-checkout/sdk';
import { MedusaError, MedusaService } from '@medusajs/framework/utils';
import { Webhook } from 'standardwebhooks';
import { CardCheckoutCursor } from './models/cursor.js';
import { CardCheckoutPayment } from './models/payment.js';

const CURSOR = 'events';
const START = { event_number: '0', attempts: 0 };

/** The card-checkout account and this shop's own tables. Secrets are kept in memory and never stored. */
export default class CardCheckoutService extends MedusaService({ CardCheckoutPayment, CardCheckoutCursor }) {
  /**
   * @param {object} options
   * @param {string} options.url root of the service, such as https://pay.example.com
   * @param {string} options.apiKey key with the scopes create, read, cancel and refund
   * @param {string} options.webhookSecret secret of Standard Webhooks, `whsec_…`
   * @param {string} [options.callback] URL of this shop's webhook route; by default the account's
   * @param {string} [options.payoutAddress] wallet that receives the money; by default the account's
   * @param {string} [options.returnUrl] page after the payment; `{cart_id}` is replaced with the cart's id
   * @param {string} [options.cancelUrl] page after a canceled checkout
   */
  constructor(container, options = {}, declaration = undefined) {
    super(container, options, declaration);
    for (const name of ['url', 'apiKey', 'webhookSecret'])
      if (!options[name])
        throw new MedusaError(
          MedusaError.Types.INVALID_DATA,
          `@card-checkout/medusa needs the option ${name}`,
        );
    if (!/^whsec_[\w+/]+=*$/.test(options.webhookSecret))
      throw new MedusaError(
        MedusaError.Types.INVALID_DATA,
        '@card-checkout/medusa needs the signing secret as the dashboard shows it, whsec_…, as webhookSecret',
      );
    this.options = options;
    this.client = createClient({ apiKey: options.apiKey, baseUrl: options.url, timeoutMs: 10_000 });
    this.webhook = new Webhook(options.webhookSecret);
    /** Paid payments that this process is booking, by the id of their session. */
    this.settling = new Map();
  }

  /** Returns the parsed body of a genuine webhook. Throws if it was forged, altered or replayed. */
  verify(rawBody, headers) {
    return this.webhook.verify(rawBody, headers);
  }

  /** Returns a payment's collection; null if another program of the account created the payment. */
  async collectionOf(paymentId) {
    const [known] = await this.listCardCheckoutPayments({ id: paymentId });
    return known?.collection_id ?? null;
  }

  async readCursor() {
    const [cursor] = await this.listCardCheckoutCursors({ id: CURSOR });
    return cursor ?? this.createCardCheckoutCursors({ id: CURSOR, ...START });
  }

  async writeCursor(number, attempts = 0) {
    await this.updateCardCheckoutCursors({ id: CURSOR, event_number: String(number), attempts });
  }
}
