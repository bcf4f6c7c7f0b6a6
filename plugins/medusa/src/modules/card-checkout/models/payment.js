// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { model } from '@medusajs/framework/utils';

/** Checkout that this shop created, with the payment collection that it pays. */
export const CardCheckoutPayment = model.define('card_checkout_payment', {
  /** Payment id at card-checkout. */
  id: model.text().primaryKey(),
  collection_id: model.text().index(),
});
