import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { checkoutContent } from './checkout-page.ts';
import { refreshSecondsOf, takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext, PaymentRoute } from './context.ts';
import { type Language, languageOf } from './languages.ts';
import { setCommonHeaders } from './page-headers.ts';
import { type Checkout, readCheckout } from './read-checkout.ts';

/**
 * `GET /pay/:paymentId/status`: what the page's script asks for, the parts of the page that change. 304 while
 * they are those that the script names in If-None-Match.
 */
export async function showStatus(
  context: CheckoutPagesContext,
  request: FastifyRequest<PaymentRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  setCommonHeaders(reply);
  const checkout = await readCheckout(context, request.params.paymentId);
  if (checkout === null) {
    const { status, message } = new ServiceError('payment_not_found');
    return reply.code(status).send({ error: message });
  }
  const content = statusContent(context, checkout, languageOf(request));
  reply.header('etag', `"${content.revision}"`);
  if (request.headers['if-none-match'] === `"${content.revision}"`) return reply.code(304).send();
  return reply.send(content);
}

/** What the page's script is told, by the poll and by the stream of events alike. */
export function statusContent(
  context: Pick<CheckoutPagesContext, 'explorerTransactionUrl' | 'token'>,
  checkout: Checkout,
  language: Language,
) {
  const content = checkoutContent(checkout, language, context);
  return {
    view: checkout.view.kind,
    takesPayment: takesPayment(checkout.view),
    revision: content.revision,
    refreshSeconds: refreshSecondsOf(checkout.view),
    title: content.title,
    status: content.status.toString(),
    detail: content.detail().toString(),
  };
}
