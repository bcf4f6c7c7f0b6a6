import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { type Html, nothing } from '../design/html.ts';
import { checkoutPage } from './checkout-page.ts';
import { takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext } from './context.ts';
import { countryQuestion } from './country-question.ts';
import { languageOf } from './languages.ts';
import { sendPage } from './page-headers.ts';
import { type Checkout, readCheckout } from './read-checkout.ts';
import { problemWords } from './refusal-words.ts';
import { rememberedProvider } from './remember.ts';

/** The page of a checkout, in the language of whoever asks. */
export function sendCheckout(
  context: CheckoutPagesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  checkout: Checkout,
  answer: { readonly status: number; readonly problem: Html | null; readonly question?: Html },
): FastifyReply {
  const { isSandbox, explorerTransactionUrl, token } = context;
  const { problem, question = nothing } = answer;
  const language = languageOf(request);
  const quotes = { askQuote: context.askQuote, lastChoice: rememberedProvider(request.headers) };
  const isPlayable = context.play !== null;
  const chain = { explorerTransactionUrl, token };
  const options = { ...chain, language, isSandbox, isPlayable, problem, question, quotes };
  const page = checkoutPage(checkout, options);
  return sendPage(reply, { status: answer.status, baseUrl: context.baseUrl, page });
}

/**
 * The page again after a visit could not be started, with the reason and the other providers. The checkout is read
 * anew: it may have been paid or canceled meanwhile, and then the state says more than the reason. Rethrows what is
 * no `ServiceError`.
 */
export async function sendProblem(
  context: CheckoutPagesContext,
  request: FastifyRequest,
  reply: FastifyReply,
  paymentId: string,
  provider: ProviderId | null,
  error: unknown,
): Promise<FastifyReply> {
  if (!(error instanceof ServiceError)) throw error;
  // The customer is not shown what is wrong with the provider or the chain; the operator has to learn of it.
  if (error.status >= 500) reply.log.warn({ err: error, provider }, 'a visit could not be started');
  const checkout = await readCheckout(context, paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  if (error.retryAfterSeconds !== null) reply.header('retry-after', error.retryAfterSeconds);
  const { status } = error;
  if (!takesPayment(checkout.view)) {
    return sendCheckout(context, request, reply, checkout, { status, problem: null });
  }
  const language = languageOf(request);
  const problem = problemWords(language, error, provider, checkout);
  // The only thing that a visit can lack is the customer's country.
  const question =
    provider !== null && error.errorName === 'invalid_request'
      ? countryQuestion(checkout.payment, provider, language)
      : nothing;
  return sendCheckout(context, request, reply, checkout, { status, problem, question });
}
