import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { sendProblem } from './answer-checkout.ts';
import { takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext, OutcomeRoute } from './context.ts';
import { isOutcome, outcomesOf, type PlayOutcome, playedProviderOf } from './outcomes.ts';
import { setCommonHeaders } from './page-headers.ts';
import { readCheckout } from './read-checkout.ts';
import { isSameOrigin } from './same-origin.ts';

/** `POST /pay/:paymentId/sandbox/:outcome`: a button of the sandbox's panel. In live mode there is no such address. */
export async function playOutcome(
  context: CheckoutPagesContext,
  play: PlayOutcome,
  request: FastifyRequest<OutcomeRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { paymentId, outcome } = request.params;
  const checkout = await readCheckout(context, paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  const { payment, view } = checkout;
  if (!isOutcome(outcome) || !outcomesOf(payment).includes(outcome)) throw new ServiceError('not_found');
  if (!isSameOrigin(request.headers, context.baseUrl)) throw new ServiceError('invalid_request');
  try {
    // A second click, when the first has done its work.
    if (takesPayment(view)) await play(payment, outcome);
  } catch (error) {
    return sendProblem(context, request, reply, payment.id, playedProviderOf(payment), error);
  }
  return setCommonHeaders(reply).redirect(`/pay/${payment.id}`, 303);
}
