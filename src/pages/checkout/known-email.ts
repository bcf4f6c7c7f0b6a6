import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { canonicalEmail } from '../../payment/checkout-url.ts';
import type { Payment } from '../../payment/payment.ts';
import { isSameText } from '../../platform/keyed-hash.ts';
import { readCookie, setCookie } from '../../web/cookies.ts';
import { type Html, html } from '../../web/design/html.ts';
import { widestNetworkOf } from '../../web/rate-windows.ts';
import type { CheckoutPagesContext, CheckoutRequest } from './context.ts';

/*
 * A provider gets the payment's email address only if the visitor's link included it. The proof is a token for payment
 * and email address, in forms and in a cookie of this checkout.
 */

/** Name of the cookie and the hidden field. */
const EMAIL_TOKEN = 'email_token';

/** Returns the token for the visitor's forms; null if the email address is unproven or guessed too often. */
export function emailTokenOf(
  { emailHash, limits }: Pick<CheckoutPagesContext, 'emailHash' | 'limits'>,
  request: Pick<FastifyRequest, 'query' | 'body' | 'headers' | 'ip'>,
  { id, email }: Pick<Payment, 'id' | 'email'>,
): string | null {
  if (email === null) return null;
  // Also accepts tokens of replaced secrets, because a page may be open when the secret changes.
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
  if (readCookie(request.headers, EMAIL_TOKEN) === token) return;
  setCookie(reply, EMAIL_TOKEN, token, {
    path: `/pay/${id}`,
    isSecure: context.baseUrl.startsWith('https:'),
  });
}

function carriesToken(request: Pick<FastifyRequest, 'body' | 'headers'>, token: string): boolean {
  const { body } = request;
  const field = body instanceof URLSearchParams ? (body.get(EMAIL_TOKEN) ?? '') : '';
  const cookie = readCookie(request.headers, EMAIL_TOKEN) ?? '';
  return isSameText(unmasked(field), token) || isSameText(cookie, token);
}

/** Renders a hidden field with the token XORed with a random mask. Compression could reveal a constant (BREACH). */
export function emailTokenField(token: string): Html {
  const bytes = Buffer.from(token, 'base64url');
  const mask = randomBytes(bytes.length);
  const value = Buffer.concat([mask, combined(mask, bytes)]).toString('base64url');
  return html`<input type="hidden" name="${EMAIL_TOKEN}" value="${value}">`;
}

function unmasked(value: string): string {
  const bytes = Buffer.from(value, 'base64url');
  const middle = bytes.length / 2;
  return combined(bytes.subarray(0, middle), bytes.subarray(middle)).toString('base64url');
}

function combined(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));
}
