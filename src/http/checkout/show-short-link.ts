import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { isPreview } from './automatic-visit.ts';
import type { CheckoutPagesContext, ShortLinkRoute } from './context.ts';
import { languageOf } from './languages.ts';
import { sendPage } from './page-headers.ts';
import { readCheckoutOfShortCode } from './read-checkout.ts';
import { rememberLanguage } from './remember.ts';
import { shortLinkPage } from './short-link-page.ts';

/** `GET /s/:shortCode`: a page for link previews that leads customers on to the checkout. */
export async function showShortLink(
  context: CheckoutPagesContext,
  request: FastifyRequest<ShortLinkRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = await readCheckoutOfShortCode(context, request.params.shortCode);
  if (checkout === null) throw new ServiceError('payment_not_found');
  const { isSandbox, baseUrl } = context;
  const language = languageOf(request);
  rememberLanguage(context, request, reply);
  const options = { language, isSandbox, baseUrl, isPreview: isPreview(request.headers) };
  return sendPage(reply, { status: 200, baseUrl, page: shortLinkPage(checkout, options) });
}
