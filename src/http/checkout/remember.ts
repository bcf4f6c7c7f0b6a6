import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isProviderId, type ProviderId } from '../../domain/provider-catalogue.ts';
import type { CheckoutPagesContext } from './context.ts';
import { chosenLanguage, LANGUAGE_COOKIE } from './languages.ts';

const YEAR_SECONDS = 365 * 24 * 60 * 60;
const PROVIDER_COOKIE = 'provider';
const providerPattern = new RegExp(`(?:^|;\\s*)${PROVIDER_COOKIE}=(\\w{1,20})(?:;|$)`);

type BaseUrl = Pick<CheckoutPagesContext, 'baseUrl'>;

/** Keeps the language that the customer has just chosen by a link, for this and other checkouts. */
export function rememberLanguage(context: BaseUrl, { query }: FastifyRequest, reply: FastifyReply): void {
  const language = chosenLanguage(query);
  if (language !== null) setCookie(context.baseUrl, reply, LANGUAGE_COOKIE, language.code, lasting);
}

/** Keeps where the customer goes to pay, so that it stands first the next time. */
export function rememberProvider(context: BaseUrl, reply: FastifyReply, provider: ProviderId): void {
  setCookie(context.baseUrl, reply, PROVIDER_COOKIE, provider, lasting);
}

/** Where the customer went the last time, or null. */
export function rememberedProvider({ cookie }: IncomingHttpHeaders): ProviderId | null {
  const value = cookie === undefined ? undefined : providerPattern.exec(cookie)?.[1];
  return value !== undefined && isProviderId(value) ? value : null;
}

/** How far and how long a cookie goes; without a lifetime it ends with the browser's session. */
interface CookieScope {
  readonly path: string;
  readonly lifetimeSeconds?: number;
}

const lasting: CookieScope = { path: '/', lifetimeSeconds: YEAR_SECONDS };

/** A cookie that no script reads and no other site's form brings along. */
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
