// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { ConnectionError } from '@card-checkout/sdk';
import { describe, readCollection } from '../lib/collection.js';
import { settle } from '../lib/settle.js';
import { tell } from '../lib/tell.js';

/** Maximum attempts to book a payment, one per minute. Then the merchant is notified, and the next event follows. */
const MAXIMUM_ATTEMPTS = 5;
/** Maximum payments read again if the shop was offline for longer than the log is kept. */
const MAXIMUM_OF_A_GAP = 500;

/** Notices for the merchant. Medusa books refunds when they are opened, before the money moves. */
const told = {
  'payment.partially_paid':
    'Less than the price has arrived. The customer can pay the rest at the same link.',
  'payment.overpaid':
    'More than the price has arrived, or it was paid twice. Refund the surplus in the dashboard.',
  'payment.attention_required': 'The money needs attention: see the payment in the dashboard.',
  'payment.forwarded':
    'Money of a canceled checkout reached your wallet. It belongs to no order: ship or refund by hand.',
  'refund.address_named':
    'The customer named a wallet for a refund. Compare it with the customer, confirm it and send the USDC.',
  'refund.transaction_refused': 'A transaction is not that of the refund: see the payment in the dashboard.',
  'refund.transfer_reverted': 'The transfer of a refund was reverted. It is expected again.',
  'refund.paid': 'The USDC of a refund has reached the customer.',
  'refund.canceled': 'A refund was canceled, and nothing was sent. Medusa still shows it as refunded.',
};

/** Reads the account's event log from the last position, to catch up on missed webhooks. */
export default async function followEvents({ cradle }) {
  const { cardCheckout, logger } = cradle;
  let { event_number: number, attempts } = await cardCheckout.readCursor();
  for (let hasMore = true; hasMore; ) {
    const page = await readPage(cradle, number);
    for (const event of page.events) {
      try {
        await handle(cradle, event);
      } catch (error) {
        const text = `payment ${event.payment.payment_id}: ${error.message}`;
        logger.error(`card-checkout: ${text}`);
        if (isTemporary(error)) return;
        attempts += 1;
        if (attempts < MAXIMUM_ATTEMPTS) return cardCheckout.writeCursor(number, attempts);
        await tellOfFailure(cradle, event.number, text);
      }
      number = event.number;
      attempts = 0;
      await cardCheckout.writeCursor(number);
    }
    number = page.next_after;
    hasMore = page.has_more;
  }
}

/** Returns events after a number. If they were deleted, reads the newest payments and starts with the oldest event. */
async function readPage(cradle, number) {
  const { client } = cradle.cardCheckout;
  try {
    return await client.events.list(number === '0' ? {} : { after: Number(number) });
  } catch (error) {
    if (error.code !== 'cursor_expired') throw error;
    const newest = { take: MAXIMUM_OF_A_GAP, order: { created_at: 'DESC' } };
    for (const { id } of await cradle.cardCheckout.listCardCheckoutPayments({}, newest)) {
      await settle(cradle, id).catch((failure) => {
        if (isTemporary(failure)) throw failure;
        return tellOfFailure(cradle, id, `payment ${id}: ${failure.message}`);
      });
    }
    return client.events.list();
  }
}

const isTemporary = (error) => error instanceof ConnectionError || error.isTemporary === true;

const tellOfFailure = (cradle, key, text) =>
  tell(cradle, `${key} failed`, 'A payment was not processed', text);

async function handle(cradle, { number, type, payment, refund }) {
  const { payment_id: id } = payment;
  if (type === 'payment.paid') return settle(cradle, id);
  if (type === 'payment.partially_paid' && payment.status === 'paid') return undefined;
  const collectionId = told[type] && (await cradle.cardCheckout.collectionOf(id));
  if (!collectionId) return undefined;
  const sum = refund ? `Refund: ${refund.amount} USDC` : `Received: ${payment.value_coin} USDC`;
  const about = describe(await readCollection(cradle.query, collectionId), id);
  return tell(cradle, String(number), type, `${told[type]} ${sum} (${about}).`);
}

export const config = { name: 'card-checkout-follow-events', schedule: '* * * * *' };
