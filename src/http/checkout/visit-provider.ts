import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import type { Payment } from '../../domain/payment.ts';
import { isProviderId, type ProviderId } from '../../domain/provider-catalogue.ts';
import type { ProviderSession } from '../../domain/provider-session.ts';
import { isSecureUrl } from '../../platform/public-address.ts';
import { html } from '../design/html.ts';
import { isSameOrigin } from '../signed-in/forms.ts';
import { sendCheckout, sendProblem } from './answer-checkout.ts';
import { takesPayment } from './checkout-view.ts';
import type { CheckoutPagesContext, ProviderRoute } from './context.ts';
import { emailTokenOf } from './known-email.ts';
import { languageOf } from './languages.ts';
import { setCommonHeaders } from './layout.ts';
import { readCheckout } from './read-checkout.ts';
import { rememberProvider } from './remember.ts';
import { countryOfForm } from './selector.ts';

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

/** Fetch links to show a preview or to index them. (Cubot makes telephones.) */
const previewAgent =
  /(?<!cu)bot\b|crawl|spider|preview|facebookexternalhit|^whatsapp\/|skypeuri|embedly|iframely|slurp|pinterest\/|vkshare|mediapartners|bingbot|yandex(?:images|media)|google-(?:read-aloud|inspectiontool)/i;

/** Whether this visitor is not a customer who follows the link, but something that looks at it beforehand. */
export function isPreview(headers: IncomingHttpHeaders): boolean {
  const purposes = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'].map((name) =>
    String(headers[name] ?? ''),
  );
  if (purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose))) return true;
  // Where the browser says what it loads, only a page in its own right is a customer's visit.
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') return true;
  return previewAgent.test(headers['user-agent'] ?? '');
}

/**
 * The provider that opening the checkout leads straight to, or null for the page. `auto=1` counts only for a payment
 * with a single provider and a stored e-mail (not one edited into the query). `returned=1` stands in the address to
 * which providers send the customer back: they get the page, not the same redirect again.
 */
export function automaticProvider(
  payment: Payment,
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
): ProviderId | null {
  if (query['auto'] !== '1' || query['returned'] !== undefined) return null;
  if (!isProviderId(payment.provider) || payment.email === null) return null;
  return isPreview(headers) ? null : payment.provider;
}

/** Sends the customer on with a 303. A provider's answer that is no secure web address is the provider's failure. */
export function redirectToProvider(reply: FastifyReply, session: ProviderSession): FastifyReply {
  const url = URL.parse(session.redirectUrl);
  if (url === null || !isSecureUrl(url)) {
    throw new ServiceError('provider_unavailable', undefined, {
      cause: new Error(`${session.provider} sends its customers to something that is no secure web address`),
    });
  }
  return setCommonHeaders(reply).redirect(url.href, 303);
}

/** What proxies write when they do not know, or for a network that hides it. */
const NO_COUNTRY: ReadonlySet<string> = new Set(['XX', 'ZZ', 'T1', 'A1', 'A2']);

/**
 * Where the customer lives as far as the operator's proxy can tell (ISO 3166-1 alpha-2), or null. Who writes the header
 * themselves misleads nobody but themselves: it decides what their own provider asks.
 */
export function customerCountry(
  { countryHeader }: Pick<CheckoutPagesContext, 'countryHeader'>,
  headers: IncomingHttpHeaders,
): string | null {
  const value = countryHeader === null ? undefined : headers[countryHeader];
  const country = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return /^[A-Z]{2}$/.test(country) && !NO_COUNTRY.has(country) ? country : null;
}
