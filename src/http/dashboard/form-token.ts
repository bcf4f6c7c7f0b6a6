import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isSameOrigin } from '../checkout/same-origin.ts';
import { type Html, html } from '../design/html.ts';
import type { FormFields } from './form-fields.ts';

/** The hidden field that every form of the dashboard has, and those of a checkout whose visitor knows the e-mail address. */
const FIELD = 'form_token';
/** SHA-256. */
const TOKEN_BYTES = 32;

/**
 * What proves that a form is from a page of ours which this browser was shown. Derived from the cookie that goes with
 * it, so that it need not be kept, ends with the session, and cannot be computed by who does not know the cookie.
 * Pages carry it masked only: `formTokenField`.
 */
export function formTokenOf(cookie: string): string {
  return hash('sha256', `card-checkout form ${cookie}`, 'base64url');
}

/** The hidden field. Its value is another one in each answer. */
export function formTokenField(formToken: string): Html {
  return html`<input type="hidden" name="${FIELD}" value="${maskToken(formToken)}">`;
}

/** What a form has in the hidden field; '' where it has none. */
export function fieldText(form: URLSearchParams): string {
  return form.get(FIELD) ?? '';
}

/** Whether the hidden field's value is this token, in a time that does not tell how nearly. */
export function isFormToken(value: string, formToken: string): boolean {
  const given = unmaskToken(value);
  return given !== null && timingSafeEqual(given, Buffer.from(formToken, 'base64url'));
}

/** Whether a form is ours twice over: by what the browser says of its origin, and by the token. */
export function isOwnForm(
  request: FastifyRequest,
  baseUrl: string,
  form: FormFields,
  cookie: string | null,
): boolean {
  if (cookie === null || !isSameOrigin(request.headers, baseUrl)) return false;
  return isFormToken(form.text(FIELD), formTokenOf(cookie));
}

/**
 * The token XORed with a random mask, behind the mask. A page is compressed: a secret that were the same in each answer
 * could be guessed by how well the answer compresses with guesses of it (BREACH).
 */
function maskToken(formToken: string): string {
  const mask = randomBytes(TOKEN_BYTES);
  return Buffer.concat([mask, combine(mask, Buffer.from(formToken, 'base64url'))]).toString('base64url');
}

/** The token in a field's value; null for what no page of ours has. */
function unmaskToken(value: string): Buffer | null {
  const bytes = Buffer.from(value, 'base64url');
  if (bytes.length !== 2 * TOKEN_BYTES || bytes.toString('base64url') !== value) return null;
  return combine(bytes.subarray(0, TOKEN_BYTES), bytes.subarray(TOKEN_BYTES));
}

function combine(one: Uint8Array, other: Uint8Array): Buffer {
  return Buffer.from(one.map((byte, index) => byte ^ (other[index] as number)));
}
