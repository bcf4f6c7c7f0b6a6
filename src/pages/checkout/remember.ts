import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isProviderId, type ProviderId } from '../../payment/provider-catalog.ts';
import { chosenLanguage, LANGUAGE_COOKIE } from '../../web/checkout-layout/languages.ts';
import { readCookie, setCookie } from '../../web/cookies.ts';
import type { CheckoutPagesContext, CheckoutRequest } from './context.ts';
import { countryOfForm, knownCountry } from './country.ts';

const YEAR_SECONDS = 365 * 24 * 60 * 60;
const PROVIDER_COOKIE = 'provider';
const COUNTRY_COOKIE = 'country';

export function rememberLanguage({ context, query, reply }: CheckoutRequest): void {
  const language = chosenLanguage(query);
  if (language !== null) setCookie(reply, LANGUAGE_COOKIE, language.code, lasting(context));
}

export function rememberProvider({ context, reply }: CheckoutRequest, provider: ProviderId): void {
  setCookie(reply, PROVIDER_COOKIE, provider, lasting(context));
}

export function rememberedProvider(headers: IncomingHttpHeaders): ProviderId | null {
  const value = readCookie(headers, PROVIDER_COOKIE);
  return value !== null && isProviderId(value) ? value : null;
}

export function rememberCountry({ context, request, reply }: CheckoutRequest): boolean {
  const country = countryOfForm(request.body);
  if (country !== null)
    setCookie(reply, COUNTRY_COOKIE, country, { ...lasting(context), lifetimeSeconds: undefined });
  return country !== null;
}

/** Values by which proxies mark an unknown country or an anonymizing network. */
const NO_COUNTRY: ReadonlySet<string> = new Set(['XX', 'ZZ', 'T1', 'A1', 'A2']);

/** Returns the chosen, stored or reported country (ISO 3166-1 alpha-2) and state (`US-NY`); null if unknown. */
export function customerPlace(
  { countryHeader }: Pick<CheckoutPagesContext, 'countryHeader'>,
  { headers, body }: Pick<FastifyRequest, 'headers' | 'body'>,
): { readonly country: string | null; readonly state: string | null } {
  const value = countryHeader === null ? '' : String(headers[countryHeader]).trim().toUpperCase();
  const [, reported = '', state = null] = /^([A-Z]{2})(?:-([A-Z]{2}))?$/.exec(value) ?? [];
  const chosen = countryOfForm(body) ?? knownCountry(readCookie(headers, COUNTRY_COOKIE));
  const country = chosen ?? (NO_COUNTRY.has(reported) ? null : reported || null);
  return { country, state: country === 'US' && reported === 'US' ? state : null };
}

function lasting({ baseUrl }: CheckoutPagesContext) {
  return { path: '/', isSecure: baseUrl.startsWith('https:'), lifetimeSeconds: YEAR_SECONDS };
}
