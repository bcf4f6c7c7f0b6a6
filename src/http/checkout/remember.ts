import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isProviderId, type ProviderId } from '../../domain/provider-catalogue.ts';
import { readCookie, setCookie } from '../cookies.ts';
import type { CheckoutPagesContext } from './context.ts';
import { chosenLanguage, LANGUAGE_COOKIE } from './languages.ts';

const YEAR_SECONDS = 365 * 24 * 60 * 60;
const PROVIDER_COOKIE = 'provider';

type BaseUrl = Pick<CheckoutPagesContext, 'baseUrl'>;

/** Stores the language that the customer has just chosen by a link, for this and other checkouts. */
export function rememberLanguage(context: BaseUrl, { query }: FastifyRequest, reply: FastifyReply): void {
  const language = chosenLanguage(query);
  if (language !== null) setCookie(reply, LANGUAGE_COOKIE, language.code, lasting(context));
}

/** Stores the provider that the customer chose, so that it comes first the next time. */
export function rememberProvider(context: BaseUrl, reply: FastifyReply, provider: ProviderId): void {
  setCookie(reply, PROVIDER_COOKIE, provider, lasting(context));
}

/** The provider of the customer's last choice, or null. */
export function rememberedProvider(headers: IncomingHttpHeaders): ProviderId | null {
  const value = readCookie(headers, PROVIDER_COOKIE);
  return value !== null && isProviderId(value) ? value : null;
}

function lasting({ baseUrl }: BaseUrl) {
  return { path: '/', isSecure: baseUrl.startsWith('https:'), lifetimeSeconds: YEAR_SECONDS };
}
