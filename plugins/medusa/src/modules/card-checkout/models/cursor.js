// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { model } from '@medusajs/framework/utils';

/** Position in the account's event log, stored in a single row. */
export const CardCheckoutCursor = model.define('card_checkout_cursor', {
  id: model.text().primaryKey(),
  /** Number of the last processed event, as text because it needs 64 bits. */
  event_number: model.text(),
  /** Number of failed attempts to process the next event. */
  attempts: model.number(),
});
