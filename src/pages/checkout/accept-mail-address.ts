import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { parseUserEmail } from '../../accounts/person.ts';
import { ServiceError } from '../../payment/errors.ts';
import { languageOf } from '../../web/checkout-frame/languages.ts';
import { setCommonHeaders } from '../../web/checkout-frame/layout.ts';
import { html } from '../../web/design/html.ts';
import { limitByAddress } from '../../web/page-limits.ts';
import { requirePassing } from '../../web/rate-windows.ts';
import { isSameOrigin } from '../../web/signed-in/forms.ts';
import { sendCheckout } from './answer-checkout.ts';
import type { CheckoutRequest } from './context.ts';
import { requireCheckout } from './read-checkout.ts';

/** End of a domain, and neither of an IP address nor of a name inside a network. */
const publicDomain = /\.(?!local|internal)[a-z][a-z0-9-]+$/;

export async function acceptMailAddress(asked: CheckoutRequest<'paymentId'>): Promise<FastifyReply> {
  const { context, request, reply, params } = asked;
  const checkout = await requireCheckout(context, params.paymentId);
  const { id } = checkout.payment;
  const language = languageOf(request);
  const { mail: words, problems } = language.words;
  const refuse = (status: number, problem: string) =>
    sendCheckout(asked, checkout, { status, problem: html`${problem}` });
  if (!isSameOrigin(request.headers, context.baseUrl)) return refuse(403, problems.notFromHere);
  if (context.receipts && checkout.mail !== null && checkout.mail !== 'own') {
    const typed = request.body instanceof URLSearchParams ? (request.body.get('email') ?? '') : '';
    const email = parseUserEmail(typed);
    if (email === null || !publicDomain.test(email)) return refuse(400, words.wrong);
    const { mailVisitors, mailPayments, mailRecipients } = context.limits;
    try {
      await limitByAddress(mailVisitors, request);
      await requirePassing(mailPayments, id);
      await requirePassing(mailRecipients, hash('sha256', email.replace(/\+.*@/, '@')));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.retryAfterSeconds === null) throw error;
      reply.header('retry-after', error.retryAfterSeconds);
      return refuse(429, words.tooOften);
    }
    await context.receipts.askForReceipt(id, { email, language: language.code }, context.nowMs());
  }
  return setCommonHeaders(reply).redirect(`/pay/${id}#mail`, 303);
}
