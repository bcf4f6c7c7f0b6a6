// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { model } from '@medusajs/framework/utils';

/** Position in the account's event log; one row. */
export const CardCheckoutCursor = model.define('card_checkout_cursor', {
  id: model.text().primaryKey(),
  /** Number of the last processed event. Needs 64 bits. */
  event_number: model.text(),
  /** Failed attempts to process the event after it. */
  attempts: model.number(),
});
