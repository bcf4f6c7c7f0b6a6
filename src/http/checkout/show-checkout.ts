import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { sendCheckout, sendProblem } from './answer-checkout.ts';
import { automaticProvider } from './automatic-visit.ts';
import { isTakenByProvider, takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext, PaymentRoute } from './context.ts';
import { customerCountry } from './customer-country.ts';
import { emailTokenOf } from './known-email.ts';
import { languageOf } from './languages.ts';
import { countVisitor } from './page-limits.ts';
import { readCheckout } from './read-checkout.ts';
import { redirectToProvider } from './redirect-to-provider.ts';
import { rememberLanguage } from './remember.ts';
import { comesFromOwnPage } from './same-origin.ts';

/** `GET /pay/:paymentId`: the page, or straight on to the provider where the link says so. */
export async function showCheckout(
  context: CheckoutPagesContext,
  request: FastifyRequest<PaymentRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = await readCheckout(context, request.params.paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  rememberLanguage(context, request, reply);
  const { view, payment } = checkout;
  const provider =
    takesPayment(view) && !isTakenByProvider(view)
      ? automaticProvider(payment, request.query, request.headers)
      : null;
  if (provider === null)
    return sendCheckout(context, request, reply, checkout, { status: 200, problem: null });
  if (needsOwnPage(context, request, provider)) {
    const leadsOn = hasBeenRefreshed(request)
      ? null
      : { withoutScript: `/pay/${payment.id}?auto=1&${REFRESHED}=1` };
    return sendCheckout(context, request, reply, checkout, { status: 200, problem: null, leadsOn });
  }
  await countVisitor(context.limits.starts, request);
  try {
    const visitor = {
      country: customerCountry(context, request.headers),
      language: languageOf(request).code,
      knowsEmail: emailTokenOf(context, request, payment) !== null,
    };
    return redirectToProvider(reply, await context.startSession(payment, provider, visitor));
  } catch (error) {
    return sendProblem(context, request, reply, payment.id, provider, error);
  }
}

/** In the address that the page of a direct link refreshes to where there is no script. */
const REFRESHED = 'refreshed';

/**
 * Whether the provider would refuse the customer if the link answered with a redirect: it checks which site customers
 * come from, and the browser would name the shop's, or none. Some browsers name none with a refresh either; their
 * customers press the button.
 */
function needsOwnPage(
  { directory, baseUrl }: CheckoutPagesContext,
  { headers }: FastifyRequest,
  provider: ProviderId,
): boolean {
  return directory.adapters.get(provider)?.checksReferrer === true && !comesFromOwnPage(headers, baseUrl);
}

function hasBeenRefreshed({ query }: FastifyRequest<PaymentRoute>): boolean {
  return query[REFRESHED] !== undefined;
}
