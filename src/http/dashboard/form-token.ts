import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isSameOrigin } from '../checkout/same-origin.ts';
import { type Html, html } from '../design/html.ts';
import type { FormFields } from './form-fields.ts';

/** The hidden field that every form of the dashboard has. */
const FIELD = 'form_token';

/**
 * What proves that a form is from a page of ours which this browser was shown. Derived from the cookie that goes with
 * it, so that it need not be kept, ends with the session, and cannot be computed by who does not know the cookie.
 */
export function formTokenOf(cookie: string): string {
  return hash('sha256', `card-checkout form ${cookie}`, 'base64url');
}

/** The hidden field. */
export function formTokenField(formToken: string): Html {
  return html`<input type="hidden" name="${FIELD}" value="${formToken}">`;
}

/** Whether a form is ours twice over: by what the browser says of its origin, and by the token. */
export function isOwnForm(
  request: FastifyRequest,
  baseUrl: string,
  form: FormFields,
  cookie: string | null,
): boolean {
  if (cookie === null || !isSameOrigin(request.headers, baseUrl)) return false;
  const [given, expected] = [Buffer.from(form.text(FIELD)), Buffer.from(formTokenOf(cookie))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
