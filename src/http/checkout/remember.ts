import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isProviderId, type ProviderId } from '../../domain/provider-catalogue.ts';
import type { CheckoutPagesContext } from './context.ts';
import { chosenLanguage, LANGUAGE_COOKIE } from './languages.ts';

const YEAR_SECONDS = 365 * 24 * 60 * 60;
const PROVIDER_COOKIE = 'provider';
const providerPattern = new RegExp(`(?:^|;\\s*)${PROVIDER_COOKIE}=(\\w{1,20})(?:;|$)`);

type BaseUrl = Pick<CheckoutPagesContext, 'baseUrl'>;

/** Stores the language that the customer has just chosen by a link, for this and other checkouts. */
export function rememberLanguage(context: BaseUrl, { query }: FastifyRequest, reply: FastifyReply): void {
  const language = chosenLanguage(query);
  if (language !== null) setCookie(context.baseUrl, reply, LANGUAGE_COOKIE, language.code, lasting);
}

/** Stores the provider that the customer chose, so that it comes first the next time. */
export function rememberProvider(context: BaseUrl, reply: FastifyReply, provider: ProviderId): void {
  setCookie(context.baseUrl, reply, PROVIDER_COOKIE, provider, lasting);
}

/** The provider of the customer's last choice, or null. */
export function rememberedProvider({ cookie }: IncomingHttpHeaders): ProviderId | null {
  const value = cookie === undefined ? undefined : providerPattern.exec(cookie)?.[1];
  return value !== undefined && isProviderId(value) ? value : null;
}

/** Path and lifetime of a cookie; without a lifetime it ends with the browser's session. */
interface CookieScope {
  readonly path: string;
  readonly lifetimeSeconds?: number;
}

const lasting: CookieScope = { path: '/', lifetimeSeconds: YEAR_SECONDS };

/** Sets a cookie that no script can read and that no cross-site form sends. */
export function setCookie(
  baseUrl: string,
  reply: FastifyReply,
  name: string,
  value: string,
  { path, lifetimeSeconds }: CookieScope,
): void {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  const lifetime = lifetimeSeconds === undefined ? '' : `; Max-Age=${lifetimeSeconds}`;
  void reply.header(
    'set-cookie',
    `${name}=${value}; Path=${path}${lifetime}; HttpOnly; SameSite=Lax${secure}`,
  );
}
