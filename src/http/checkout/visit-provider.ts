import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isProviderId } from '../../domain/provider-catalogue.ts';
import { html } from '../design/html.ts';
import { sendCheckout, sendProblem } from './answer-checkout.ts';
import { takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext, ProviderRoute } from './context.ts';
import { countryOfForm } from './country-question.ts';
import { customerCountry } from './customer-country.ts';
import { emailTokenOf } from './known-email.ts';
import { languageOf } from './languages.ts';
import { readCheckout } from './read-checkout.ts';
import { redirectToProvider } from './redirect-to-provider.ts';
import { rememberProvider } from './remember.ts';
import { isSameOrigin } from './same-origin.ts';

/** `POST /pay/:paymentId/providers/:provider`: the customer's click, answered with a 303 to the provider. */
export async function visitProvider(
  context: CheckoutPagesContext,
  request: FastifyRequest<ProviderRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { paymentId, provider } = request.params;
  const checkout = await readCheckout(context, paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  if (!isSameOrigin(request.headers, context.baseUrl)) {
    const problem = html`${languageOf(request).words.problems.notFromHere}`;
    return sendCheckout(context, request, reply, checkout, { status: 403, problem });
  }
  // The page was older than the payment: what has become of it says all. Also keeps a customer of whom a part has
  // arrived already from being charged again: a visit at a provider always charges the whole amount.
  if (!takesPayment(checkout.view)) {
    return sendCheckout(context, request, reply, checkout, { status: 409, problem: null });
  }
  if (!isProviderId(provider)) {
    return sendProblem(context, request, reply, paymentId, null, new ServiceError('provider_unknown'));
  }
  try {
    const session = await context.startSession(checkout.payment, provider, {
      country: countryOfForm(request.body) ?? customerCountry(context, request.headers),
      language: languageOf(request).code,
      knowsEmail: emailTokenOf(context, request, checkout.payment) !== null,
    });
    rememberProvider(context, reply, provider);
    return redirectToProvider(reply, session);
  } catch (error) {
    return sendProblem(context, request, reply, paymentId, provider, error);
  }
}
