import type { FastifyRequest } from 'fastify';
import { canonicalEmail } from '../../payment/checkout-url.ts';
import type { Payment } from '../../payment/payment.ts';
import { isSameText } from '../../platform/keyed-hash.ts';
import { readCookie, setCookie } from '../../web/cookies.ts';
import { widestNetworkOf } from '../../web/rate-windows.ts';
import { fieldText, isFormToken } from '../../web/signed-in/forms.ts';
import type { CheckoutPagesContext, CheckoutRequest } from './context.ts';

/*
 * A provider gets the payment's email address only if the visitor came with it. The proof is a token bound to payment
 * and address, in forms and in a cookie of this checkout.
 */

const COOKIE = 'email_token';

/** Token for this visitor's forms. Null without the payment's address, or after too many wrong guesses of it. */
export function emailTokenOf(
  { emailHash, limits }: Pick<CheckoutPagesContext, 'emailHash' | 'limits'>,
  request: Pick<FastifyRequest, 'query' | 'body' | 'headers' | 'ip'>,
  { id, email }: Pick<Payment, 'id' | 'email'>,
): string | null {
  if (email === null) return null;
  // Also accepts tokens of replaced secrets, because a page may be open during the replacement.
  const [token, ...earlier] = emailHash.candidates(`${id} ${canonicalEmail(email)}`) as [string, ...string[]];
  if ([token, ...earlier].some((each) => carriesToken(request, each))) return token;
  const { email: given } = request.query as Readonly<Record<string, unknown>>;
  const guesser = `${widestNetworkOf(request.ip)} ${id}`;
  if (typeof given !== 'string' || limits.emailGuesses.takeNow(guesser) > 0) return null;
  if (!isSameText(canonicalEmail(given), canonicalEmail(email))) return null;
  limits.emailGuesses.giveBack(guesser);
  return token;
}

export function rememberEmailToken(
  { context, request, reply }: CheckoutRequest,
  { id }: Pick<Payment, 'id'>,
  token: string,
): void {
  if (readCookie(request.headers, COOKIE) === token) return;
  setCookie(reply, COOKIE, token, { path: `/pay/${id}`, isSecure: context.baseUrl.startsWith('https:') });
}

function carriesToken(request: Pick<FastifyRequest, 'body' | 'headers'>, token: string): boolean {
  const { body } = request;
  const field = body instanceof URLSearchParams ? fieldText(body) : '';
  return isFormToken(field, token) || isSameText(readCookie(request.headers, COOKIE) ?? '', token);
}
