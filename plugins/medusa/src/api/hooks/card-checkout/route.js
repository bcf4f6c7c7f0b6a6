// @ts-nocheck: plain JavaScript with packages that only its own installation has.
import { settle } from '../../../lib/settle.js';

/** Receives a webhook. Uses only its payment id and reads the payment from the service. */
export async function POST(request, response) {
  const { cradle } = request.scope;
  let event;
  try {
    event = cradle.cardCheckout.verify(String(request.rawBody ?? ''), request.headers);
  } catch {
    response.sendStatus(401);
    return;
  }
  try {
    await settle(cradle, event.paymentId);
    response.sendStatus(204);
  } catch (error) {
    // The service does not repeat the event, but the job `follow-events` finds it.
    cradle.logger.error(`card-checkout: payment ${event.paymentId}: ${error.message}`);
    response.sendStatus(500);
  }
}
