import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { type ProviderId, providerCatalog, providerIds } from '../../payment/provider-catalog.ts';
import { type Html, html, nothing } from '../design/html.ts';

/** Maximum size of a form, enough for the longest field, a note. */
const FORM_LIMIT_BYTES = 16 * 1024;

export function acceptForms(scope: FastifyInstance, bodyLimit = FORM_LIMIT_BYTES): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit },
    (_request, body, done) => done(null, new URLSearchParams(String(body))),
  );
}

export interface Notes {
  readonly hint?: string | Html | undefined;
  readonly hasFocus?: boolean | undefined;
  readonly error?: string | undefined;
}

/** Attributes that link an input to its description, mark an error and focus the first wrong field. */
export function describedBy(id: string, { hint, error, hasFocus = false }: Notes): Html {
  const ids = [
    ...(error === undefined ? [] : [`${id}-error`]),
    ...(hint === undefined ? [] : [`${id}-hint`]),
  ];
  const described = ids.length === 0 ? nothing : html` aria-describedby="${ids.join(' ')}"`;
  const focused = hasFocus ? html` autofocus` : nothing;
  return error === undefined ? described : html` aria-invalid="true"${described}${focused}`;
}

export function notesOf(id: string, { hint, error }: Notes): Html {
  const note = (kind: 'error' | 'hint', text: string | Html | undefined) =>
    text === undefined
      ? nothing
      : html`<p class="${kind === 'hint' ? 'small soft' : kind}" id="${id}-${kind}">${text}</p>`;
  return html`${note('error', error)}${note('hint', hint)}`;
}

export function optionsOf<Value extends string>(
  values: readonly Value[],
  chosen: string | undefined,
  wordsOf?: (value: Value) => string,
): Html[] {
  return values.map((value) => {
    const attribute = wordsOf === undefined ? nothing : html` value="${value}"`;
    const selected = value === chosen ? html` selected` : nothing;
    return html`<option${attribute}${selected}>${wordsOf?.(value) ?? value}</option>`;
  });
}

interface TickField {
  readonly type: 'checkbox' | 'radio';
  readonly name: string;
  /** Defaults to the name; needed if a page has several fields of one name. */
  readonly id?: string;
  readonly value?: string;
  readonly label: string;
  readonly isChecked: boolean;
  /** Links the input to its description and marks an error (`describedBy`). */
  readonly attributes?: Html;
}

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

export function providerBoxes(legend: string, ticked: readonly ProviderId[]): Html {
  return html`<fieldset class="field grid"><legend>${legend}</legend>${providerIds.map((id) => {
    const names = { name: `provider_${id}`, id: `provider-${id}`, label: providerCatalog[id].name };
    return html`<div class="choice">${tickField({ type: 'checkbox', ...names, isChecked: ticked.includes(id) })}</div>`;
  })}</fieldset>`;
}

export function tickedProviders(form: FormFields): readonly ProviderId[] {
  return providerIds.filter((id) => form.has(`provider_${id}`));
}

/** Page that shows a text, which the next request does not get again. */
export function shownOncePage(
  title: string,
  text: string,
  next: string,
  { about = keepIt(title), label = 'Secret', done = 'I have saved it' } = {},
) {
  return {
    title,
    main: html`<section class="card">${about}
<div class="field"><label for="once">${label}</label><input id="once" readonly value="${text}" autocomplete="off" spellcheck="false"></div>
<div class="actions"><button class="button" type="button" data-copies="once" hidden>Copy</button>
<a class="button primary" href="${next}">${done}</a><span id="copied" role="status"></span></div></section>`,
  };
}

const keepIt = (title: string) => html`<h2><bdi>${title}</bdi></h2>
<p class="banner">Copy it now: it is not shown again. Store it on your shop's server, never in a browser or an app.</p>`;

export function banner(tone: 'good' | 'bad' | 'warn' | 'plain', text: string): Html {
  return tone === 'bad'
    ? html`<p class="banner bad" role="alert">${text}</p>`
    : html`<p class="banner ${tone}" role="status">${text}</p>`;
}

/** Message about the previous action, named in the URL; a plain text is a success. */
export function flashOf(
  { query }: { readonly query: URLSearchParams },
  messages: Readonly<Record<string, string | Html>>,
): Html {
  const name = query.get('flash') ?? '';
  const message = Object.hasOwn(messages, name) ? messages[name] : undefined;
  return typeof message === 'string' ? banner('good', message) : (message ?? nothing);
}

/** Submitted form. Each field appears once, with CRLF as LF. */
export interface FormFields {
  text(name: string): string;
  /** Whether a checkbox was ticked, or the button of this name pressed. */
  has(name: string): boolean;
  readonly file?: Uint8Array;
}

const MAXIMUM_FIELD_CHARACTERS = 4_000;

/** Throws a 400 for a repeated or overlong field, or a NUL character. */
export function readFormFields(body: unknown): FormFields {
  const fields = new Map<string, string>();
  for (const [name, value] of body instanceof URLSearchParams ? body : []) {
    if (fields.has(name)) throw invalidField('The form', 'has a repeated field.');
    if (value.length > MAXIMUM_FIELD_CHARACTERS)
      throw invalidField('The form', 'has a field that is too long.');
    if (value.includes('\0')) throw invalidField('The form', 'has an invalid character.');
    fields.set(name, value.replaceAll('\r\n', '\n'));
  }
  return { text: (name) => fields.get(name) ?? '', has: (name) => fields.has(name) };
}

/** Throws a 400 for a URL with a NUL character, which PostgreSQL refuses. */
export function requireTextUrl(url: string): void {
  if (url.includes('%00')) throw invalidField('The address', 'has an invalid character.');
}

/**
 * Throws `foreign_form` unless the browser says that one of our pages sent a form. Browsers without `Sec-Fetch-Site`
 * send `Origin` with every form; `none` is of a form that the user sends again.
 */
export function requireOwnForm(headers: IncomingHttpHeaders, baseUrl: string): void {
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  const isOwn =
    site === 'same-origin' ||
    (site === 'none' && origin !== undefined && isOwnAddress(origin, headers, baseUrl));
  if (!isOwn) throw new ServiceError('foreign_form');
}

/** Whether a customer's form may be our own: a client that sends no origin with it is no browser of another site. */
export function isSameOrigin(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  return origin === undefined || isOwnAddress(origin, headers, baseUrl);
}

/** Whether the browser followed a link or refresh of our own page, according to its Referer header. */
export function comesFromOwnPage(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  return headers.referer !== undefined && isOwnAddress(headers.referer, headers, baseUrl);
}

function isOwnAddress(address: string, headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const [url, own] = [URL.parse(address), new URL(baseUrl)];
  // The sandbox has several names on loopback; the base URL has one of them.
  return url?.protocol === own.protocol && (url.host === own.host || url.host === headers.host);
}
