import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalidField } from '../../domain/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';

/** Of a form; the longest field holds a note. */
const FORM_LIMIT_BYTES = 16 * 1024;

/** Fields as text, which the forms' own reader takes apart. */
export function acceptForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES },
    (_request, body, done) => done(null, body),
  );
}

interface TextField {
  readonly name: string;
  /** The name, unless a page has several fields of it. */
  readonly id?: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'password' | 'url';
  readonly value?: string;
  /** As browsers and password managers know it (`current-password`). */
  readonly autocomplete?: string;
  readonly hint?: string;
  readonly isOptional?: boolean;
  /** What is wrong with what was typed. */
  readonly error?: string | undefined;
}

/** A field with its label. */
export function textField({
  name,
  id = name,
  label,
  type = 'text',
  value = '',
  autocomplete = 'off',
  hint,
  isOptional = false,
  error,
}: TextField): Html {
  return html`<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${describedBy(id, { hint, error })}${isOptional ? nothing : html` required`}>
${notesOf(id, { hint, error })}
</div>`;
}

interface Notes {
  readonly hint?: string | undefined;
  /** What is wrong with what was typed or chosen. */
  readonly error?: string | undefined;
}

/** The attributes of an input that say what describes it, and whether it is wrong. */
export function describedBy(id: string, { hint, error }: Notes): Html {
  const ids = [
    ...(error === undefined ? [] : [`${id}-error`]),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ];
  const described = ids.length === 0 ? nothing : html` aria-describedby="${ids.join(' ')}"`;
  return error === undefined ? described : html` aria-invalid="true"${described}`;
}

/** What stands below an input: what is wrong, and what helps. */
export function notesOf(id: string, { hint, error }: Notes): Html {
  return html`${error === undefined ? nothing : html`<p class="error" id="${id}-error">${error}</p>`}${hint === undefined ? nothing : html`<p class="hint" id="${id}-hint">${hint}</p>`}`;
}

/** The password that somebody has already. */
export function passwordField({
  id = 'password',
  label = 'Password',
  error,
}: Partial<Pick<TextField, 'id' | 'label' | 'error'>> = {}): Html {
  const autocomplete = 'current-password';
  return textField({ name: 'password', id, label, type: 'password', autocomplete, error });
}

interface TickField {
  readonly type: 'checkbox' | 'radio';
  readonly name: string;
  /** The name, unless a page has several fields of it. */
  readonly id?: string;
  readonly value?: string;
  readonly label: string;
  readonly isChecked: boolean;
  /** Says what describes the box, and whether it is wrong (`describedBy`). */
  readonly attributes?: Html;
}

/** A box to tick or a button to choose, with its label beside it; the row they stand in is the form's. */
export function tickField({
  type,
  name,
  id = name,
  value = '1',
  label,
  isChecked,
  attributes = nothing,
}: TickField): Html {
  const checked = isChecked ? html` checked` : nothing;
  return html`<input id="${id}" name="${name}" type="${type}" value="${value}"${checked}${attributes}><label for="${id}">${label}</label>`;
}

/** What went wrong or well, told to screen readers at once. */
export function banner(tone: 'good' | 'bad' | 'warn', text: string): Html {
  return tone === 'bad'
    ? html`<p class="banner bad" role="alert">${text}</p>`
    : html`<p class="banner ${tone}" role="status">${text}</p>`;
}

/** What a form says, field by field. */
export interface FormFields {
  /** Exactly as it was typed, with line breaks as `\n`; '' when the field is not there. */
  text(name: string): string;
  /** Whether a box was ticked, or the button with this name pressed. */
  has(name: string): boolean;
}

/** No field of ours holds more. */
const MAXIMUM_FIELD_CHARACTERS = 4_000;

/** Throws a 400 for a field that is there twice, too long, or has a character that no text has. */
export function readFormFields(body: unknown): FormFields {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(typeof body === 'string' ? body : '')) {
    if (fields.has(name)) throw invalidField('The form', 'has a field twice.');
    if (value.length > MAXIMUM_FIELD_CHARACTERS)
      throw invalidField('The form', 'has a field that is too long.');
    if (value.includes('\0')) throw invalidField('The form', 'has a character that no text has.');
    fields.set(name, value.replaceAll('\r\n', '\n'));
  }
  return { text: (name) => fields.get(name) ?? '', has: (name) => fields.has(name) };
}

/** Throws a 400 for an address with a NUL character, which no text has and PostgreSQL refuses. */
export function requireTextUrl(url: string): void {
  if (url.includes('%00')) throw invalidField('The address', 'has a character that no text has.');
}

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

/**
 * Whether a form came from our own page. There is no session that another site could abuse, but it could start
 * visits at providers on customers' behalf. Browsers say where a form comes from; what says nothing is none.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  return origin === undefined || isOwnAddress(origin, headers, baseUrl);
}

/** Whether the browser followed a link or a refresh of our own page, and says so. */
export function comesFromOwnPage(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  return headers.referer !== undefined && isOwnAddress(headers.referer, headers, baseUrl);
}

function isOwnAddress(address: string, headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  // The sandbox is reached by several names of loopback, of which the base address has one.
  return url.origin === new URL(baseUrl).origin || url.host === headers.host;
}
