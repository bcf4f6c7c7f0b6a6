import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { shopOriginsOf } from '../../accounts/return-and-frame-hosts.ts';
import { isBusy, RegionNotServedError, ServiceError } from '../../payment/errors.ts';
import { isPaymentMeans, type PaymentMeans, type ProviderId } from '../../payment/provider-catalog.ts';
import { languageOf } from '../../web/checkout-layout/languages.ts';
import { sendPage } from '../../web/checkout-layout/layout.ts';
import { logBusy } from '../../web/request-log.ts';
import { type CheckoutPageOptions, checkoutPage } from './checkout-page.ts';
import { isDeclined, takesPayment } from './checkout-view.ts';
import { isRefusal, problemWords } from './choose-words.ts';
import type { CheckoutRequest } from './context.ts';
import { countryOfForm } from './country.ts';
import { emailTokenOf, rememberEmailToken } from './known-email.ts';
import { type Checkout, requireCheckout } from './read-checkout.ts';
import { customerPlace, rememberedProvider } from './remember.ts';
import { type CountryQuestion, canContinueAt } from './selector.ts';

interface CheckoutAnswer
  extends Pick<CheckoutPageOptions, 'problem' | 'question' | 'autoContinue' | 'isStill' | 'refused'> {
  readonly status: number;
}

/** Returns whether a frame loads the page. If an old browser omits the header, the shop's script opens the link. */
export function isInFrame(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-dest'] === 'iframe';
}

export function sendCheckout(
  asked: CheckoutRequest,
  checkout: Checkout,
  { status, ...answer }: CheckoutAnswer,
): FastifyReply {
  const { context, request } = asked;
  const { isTestMode, explorerTransactionUrl, token } = context;
  const emailToken = emailTokenOf(context, request, checkout.payment);
  if (emailToken !== null) rememberEmailToken(asked, checkout.payment, emailToken);
  const { country, state } = customerPlace(context, request);
  const { change, means = change } = asked.query;
  const shops = shopOriginsOf(checkout.account.returnHosts);
  const page = checkoutPage(checkout, {
    ...answer,
    shops: isInFrame(request.headers) ? shops : [],
    explorerTransactionUrl,
    token,
    language: languageOf(request),
    isTestMode,
    canSimulate: context.testPayments !== null,
    emailToken,
    quotes: {
      source: answer.autoContinue ? null : context.quotes,
      lastChoice: lastChoiceOf(checkout, request),
      customerCountry: country,
      customerState: state,
    },
    userAgent: request.headers['user-agent'] ?? '',
    means: typeof means === 'string' && isPaymentMeans(means) ? means : null,
    isChanging: change !== undefined,
  });
  return sendPage(asked, status, page, shops);
}

/** Returns the provider that the customer chose last; null if it has just declined this payment. */
function lastChoiceOf({ view }: Checkout, { headers }: FastifyRequest): ProviderId | null {
  const provider = rememberedProvider(headers);
  return view.kind === 'at_provider' && view.provider === provider && isDeclined(view) ? null : provider;
}

/** Sends the page again with the reason for a failed start. Rethrows errors other than `ServiceError`. */
export async function sendProblem(
  asked: CheckoutRequest,
  paymentId: string,
  provider: ProviderId | null,
  error: unknown,
  means: PaymentMeans | null = null,
): Promise<FastifyReply> {
  if (!(error instanceof ServiceError)) throw error;
  const { context, request, reply } = asked;
  // Logged here, because the page hides failures of a provider or the chain from customers.
  if (isBusy(error)) logBusy(reply.log, error, { provider });
  else if (error.status >= 500)
    reply.log.warn({ err: error, provider }, 'a provider session could not be started');
  const checkout = await requireCheckout(context, paymentId);
  if (error.retryAfterSeconds !== null) reply.header('retry-after', error.retryAfterSeconds);
  const { status } = error;
  if (!takesPayment(checkout.view)) {
    return sendCheckout(asked, checkout, { status, problem: null });
  }
  const language = languageOf(request);
  // The country is the only value that a provider session can lack.
  const lacksCountry = error.errorName === 'invalid_request';
  const canCountryHelp = error instanceof RegionNotServedError || !isRefusal(error);
  const isAsked = lacksCountry || (canCountryHelp && countryOfForm(request.body) !== null);
  const question: CountryQuestion | null =
    isAsked && provider !== null && canContinueAt(provider, checkout) ? { provider, means } : null;
  // A missing country is not an error until the customer has been asked for it.
  if (lacksCountry && !(request.body instanceof URLSearchParams && request.body.has('country')))
    return sendCheckout(asked, checkout, { status: 200, problem: null, question });
  const problem = problemWords(language, error, provider, checkout);
  const refused =
    isRefusal(error) && provider !== null && question === null ? { provider, refusal: error } : null;
  return sendCheckout(asked, checkout, { status, problem, question, refused });
}
