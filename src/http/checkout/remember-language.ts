import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CheckoutPagesContext } from './context.ts';
import { chosenLanguage, LANGUAGE_COOKIE } from './languages.ts';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Keeps the language that the customer has just chosen by a link, for this and other checkouts. */
export function rememberLanguage(
  { baseUrl }: Pick<CheckoutPagesContext, 'baseUrl'>,
  { query }: FastifyRequest,
  reply: FastifyReply,
): void {
  const language = chosenLanguage(query);
  if (language !== null) void reply.header('set-cookie', cookie(LANGUAGE_COOKIE, language.code, baseUrl));
}

/** A cookie that no script reads and no other site's form brings along. */
function cookie(name: string, value: string, baseUrl: string): string {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
}
