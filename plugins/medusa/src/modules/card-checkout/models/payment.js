// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { model } from '@medusajs/framework/utils';

/** A checkout that this shop created, and the payment collection that it pays. */
export const CardCheckoutPayment = model.define('card_checkout_payment', {
  /** Id of the payment at card-checkout. */
  id: model.text().primaryKey(),
  collection_id: model.text().index(),
});
