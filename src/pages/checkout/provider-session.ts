import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../payment/errors.ts';
import type { Payment } from '../../payment/payment.ts';
import {
  isPaymentMeans,
  isProviderId,
  MULTI_PROVIDER,
  type PaymentMeans,
  type ProviderId,
} from '../../payment/provider-catalog.ts';
import type { ProviderSession } from '../../payment/provider-session.ts';
import { canonicalPublicAddress, isSecureUrl } from '../../platform/public-address.ts';
import type { Visitor } from '../../providers/start-session.ts';
import { languageOf } from '../../web/checkout-layout/languages.ts';
import { setCommonHeaders } from '../../web/checkout-layout/layout.ts';
import { html } from '../../web/design/html.ts';
import { isSameOrigin } from '../../web/signed-in/forms.ts';
import { isInFrame, sendCheckout, sendProblem } from './answer-checkout.ts';
import { isTakenByProvider, takesPayment } from './checkout-view.ts';
import type { CheckoutRequest } from './context.ts';
import { emailTokenOf } from './known-email.ts';
import { meansFor } from './rank-offers.ts';
import { type Checkout, requireCheckout } from './read-checkout.ts';
import { customerPlace, rememberCountry, rememberLanguage, rememberProvider } from './remember.ts';

/**
 * Handles `POST /pay/:paymentId/providers/:provider`, the customer's click. For `multi`, the chosen row (`choice`)
 * names provider, payment method and shown total. Without a row, `means` decides.
 */
export async function openProviderSession(
  asked: CheckoutRequest<'paymentId' | 'provider'>,
): Promise<FastifyReply> {
  const { context, request, params } = asked;
  const { paymentId } = params;
  const checkout = await requireCheckout(context, paymentId);
  if (!isSameOrigin(request.headers, context.baseUrl)) {
    const problem = html`${languageOf(request).words.problems.notFromHere}`;
    return sendCheckout(asked, checkout, { status: 403, problem });
  }
  // Browsers block cookies in a shop's frame, but this request opens a top-level window, where the cookie is stored.
  rememberLanguage(asked);
  // Sends the current page, because the customer clicked on an outdated one.
  if (!takesPayment(checkout.view) || isTakenByProvider(checkout.view)) {
    return sendCheckout(asked, checkout, { status: 409, problem: null });
  }
  const { provider, means, shownTotalCents } = clickOf(asked);
  if (provider === MULTI_PROVIDER && means === null && rememberCountry(asked))
    return setCommonHeaders(asked.reply).redirect(checkout.path, 303);
  const isChosenHere = provider === MULTI_PROVIDER && means;
  const chosen = isChosenHere ? providerFor(means, asked, checkout) : provider;
  if (means === undefined || chosen === undefined || !isProviderId(chosen)) {
    return sendProblem(asked, paymentId, null, new ServiceError('provider_unknown'));
  }
  return redirectToProvider(asked, checkout.payment, chosen, { means, shownTotalCents }, () => {
    if (!isChosenHere) rememberProvider(asked, chosen);
    rememberCountry(asked);
  });
}

/** Returns the values of a click. `means` is null for the provider's default and undefined for an unknown method. */
function clickOf({ request, query, params }: CheckoutRequest<'provider'>) {
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const row = params.provider === MULTI_PROVIDER ? form.get('choice') : null;
  const [provider = '', means = form.get('means') ?? query['means'] ?? '', total = query['total']] =
    row?.split(' ') ?? [params.provider];
  // Uses 0 for anything other than a number of cents. The customer has then seen only the amount.
  const shownTotalCents = typeof total === 'string' && /^\d{1,9}$/.test(total) ? Number(total) : 0;
  if (means === '') return { provider, means: null, shownTotalCents };
  const known = typeof means === 'string' && isPaymentMeans(means) ? means : undefined;
  return { provider, means: known, shownTotalCents };
}

function providerFor(
  means: PaymentMeans,
  { context, request }: CheckoutRequest,
  checkout: Checkout,
): ProviderId | undefined {
  const { country, state } = customerPlace(context, request);
  const ways = meansFor(checkout, country, request.headers['user-agent'] ?? '', (offer, each) => ({
    offer,
    outcome: context.quotes.peek(offer.provider, checkout.charge, country, each, state),
  }));
  return ways.find((way) => way.means === means)?.offer.provider;
}

/** Starts a session, calls `onStarted` and redirects the customer. On failure, sends the page with the reason. */
export async function redirectToProvider(
  asked: CheckoutRequest,
  payment: Payment,
  provider: ProviderId,
  choice: Pick<Visitor, 'means' | 'shownTotalCents'> = {},
  onStarted = () => {},
): Promise<FastifyReply> {
  const { context, request, reply } = asked;
  try {
    const session = await context.startSession(payment, provider, {
      ...customerPlace(context, request),
      ...choice,
      ip: canonicalPublicAddress(request.ip),
      language: languageOf(request).code,
      knowsEmail: emailTokenOf(context, request, payment) !== null,
    });
    onStarted();
    return setCommonHeaders(reply).redirect(secureUrlOf(session), 303);
  } catch (error) {
    return sendProblem(asked, payment.id, provider, error, choice.means);
  }
}

/** Returns the URL of a session. Throws `provider_unavailable` if it is not secure. */
function secureUrlOf({ provider, redirectUrl }: ProviderSession): string {
  const url = URL.parse(redirectUrl);
  if (url !== null && isSecureUrl(url)) return url.href;
  throw new ServiceError('provider_unavailable', undefined, {
    cause: new Error(`${provider} sends its customers to something that is no secure web address`),
  });
}

/** User agents that fetch links for previews. Excludes Cubot phones. `isbot` would also match every HTTP client. */
const previewAgent = new RegExp(
  '(?<!cu)bot\\b|crawl|spider|preview|facebookexternalhit|^whatsapp/|skypeuri|embedly|iframely|slurp|pinterest/|vkshare|' +
    'mediapartners|bingbot|yandex(?:images|media)|google-(?:read-aloud|inspectiontool)',
  'i',
);

export function isPreview(headers: IncomingHttpHeaders): boolean {
  const purposes = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'].map((name) =>
    String(headers[name] ?? ''),
  );
  if (purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose))) return true;
  // If sent, Sec-Fetch-Dest is `document` for a customer's request.
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document' && !isInFrame(headers)) return true;
  return previewAgent.test(headers['user-agent'] ?? '');
}

/** Returns the provider to open automatically; null to show the page, as after a visit (`returned=1`). */
export function automaticProvider(
  payment: Payment,
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
): ProviderId | null {
  if (query['auto'] !== '1' || query['returned'] !== undefined) return null;
  if (!isProviderId(payment.provider) || payment.email === null) return null;
  // Providers refuse to be framed.
  return isPreview(headers) || isInFrame(headers) ? null : payment.provider;
}
