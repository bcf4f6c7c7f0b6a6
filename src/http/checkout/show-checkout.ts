import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { sendCheckout, sendProblem } from './answer-checkout.ts';
import { automaticProvider } from './automatic-visit.ts';
import { takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext, PaymentRoute } from './context.ts';
import { customerCountry } from './customer-country.ts';
import { languageOf } from './languages.ts';
import { countVisitor } from './page-limits.ts';
import { readCheckout } from './read-checkout.ts';
import { redirectToProvider } from './redirect-to-provider.ts';
import { rememberLanguage } from './remember.ts';

/** `GET /pay/:paymentId`: the page, or straight on to the provider where the link says so. */
export async function showCheckout(
  context: CheckoutPagesContext,
  request: FastifyRequest<PaymentRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = await readCheckout(context, request.params.paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  rememberLanguage(context, request, reply);
  const provider = takesPayment(checkout.view)
    ? automaticProvider(checkout.payment, request.query, request.headers)
    : null;
  if (provider === null)
    return sendCheckout(context, request, reply, checkout, { status: 200, problem: null });
  await countVisitor(context.limits.starts, request);
  try {
    const country = customerCountry(context, request.headers);
    const { code } = languageOf(request);
    return redirectToProvider(reply, await context.startSession(checkout.payment, provider, country, code));
  } catch (error) {
    return sendProblem(context, request, reply, checkout.payment.id, provider, error);
  }
}
