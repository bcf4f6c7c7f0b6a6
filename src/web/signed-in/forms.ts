import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { ChosenAccount } from '../../accounts/sessions.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { type ProviderId, providerCatalog, providerIds } from '../../payment/provider-catalog.ts';
import { type Html, html, nothing } from '../design/html.ts';

/** Maximum size of a form, enough for a note, the longest field. */
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

/** Returns the attributes that link an input to its description, mark an error and focus the first wrong field. */
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
  /** Defaults to the name. Needed if several fields on a page share a name. */
  readonly id?: string;
  readonly value?: string;
  readonly label: string;
  readonly isChecked: boolean;
  /** Attributes of `describedBy`, which link the input to its description and mark an error. */
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

/** Renders a page for a text that is shown only once. */
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

/** Renders the result of the previous action, named by `flash` in the URL. A plain string is a success. */
export function flashOf(
  { query }: { readonly query: URLSearchParams },
  messages: Readonly<Record<string, string | Html>>,
): Html {
  const name = query.get('flash') ?? '';
  const message = Object.hasOwn(messages, name) ? messages[name] : undefined;
  return typeof message === 'string' ? banner('good', message) : (message ?? nothing);
}

/** Submitted form. Each field appears once. CRLF is converted to LF. */
export interface FormFields {
  text(name: string): string;
  /** Returns whether a checkbox was ticked, or the button of this name pressed. */
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
 * Throws `foreign_form` unless the headers show that the form came from this site. Browsers without `Sec-Fetch-Site`
 * send `Origin` with every form. Other browsers send `none` when the user submits a form again.
 */
export function requireOwnForm(headers: IncomingHttpHeaders, baseUrl: string): void {
  const { origin, 'sec-fetch-site': site = 'none' } = headers;
  const isOwn =
    site === 'same-origin' ||
    (site === 'none' && origin !== undefined && isOwnAddress(origin, headers, baseUrl));
  if (!isOwn)
    throw new ServiceError(
      'foreign_form',
      'The form came from another website, or your browser did not say where it came from. Open the page here and submit its form again.',
    );
}

/** Hidden field in every form of an account's pages. It names the account for which the page was rendered. */
export const OF_ACCOUNT = 'of_account';

/** Throws `foreign_form` if the user has switched accounts since the form was rendered, for example in another tab. */
export function requireSameAccount({ account, otherAccounts }: ChosenAccount, form: FormFields): void {
  const made = form.text(OF_ACCOUNT);
  // Forms outside a page's content, which switch the account or sign out, name no account.
  if (made === '' || made === account.id) return;
  const other = otherAccounts.find(({ id }) => id === made);
  const name = other === undefined ? 'another account' : `the account “${other.name}”`;
  throw new ServiceError(
    'foreign_form',
    `The form belongs to ${name}, and you have since switched to “${account.name}”. Switch back, open the page and submit its form again.`,
  );
}

/** Returns whether a customer's form may come from this site. Browsers send the origin of another site. */
export function isSameOrigin(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  return origin === undefined || isOwnAddress(origin, headers, baseUrl);
}

/** Returns whether the Referer header names a page of this site. */
export function comesFromOwnPage(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  return headers.referer !== undefined && isOwnAddress(headers.referer, headers, baseUrl);
}

function isOwnAddress(address: string, headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const [url, own] = [URL.parse(address), new URL(baseUrl)];
  // Also accepts the requested host, because the sandbox has several loopback names.
  return url?.protocol === own.protocol && (url.host === own.host || url.host === headers.host);
}

export interface Field {
  readonly label: string;
  readonly type?:
    | 'text'
    | 'email'
    | 'url'
    | 'date'
    | 'month'
    | 'password'
    | 'textarea'
    | 'checkbox'
    | 'select'
    | 'file';
  readonly value?: string | boolean;
  readonly options?: readonly string[];
  readonly wordsOf?: (option: string) => string;
  readonly hint?: string | Html;
  readonly isOptional?: boolean;
  /** `autocomplete` attribute for browsers and password managers (`username`). */
  readonly autocomplete?: string;
  readonly inputMode?: 'decimal';
  readonly sign?: string;
  /** Accepted media types of a file. */
  readonly accept?: string;
  /** Defaults to the name. Needed if several fields on a page share a name. */
  readonly id?: string;
}

export function optional(
  label: string,
  value: string | number | null | undefined,
  hint: string,
  type: Field['type'] = 'text',
): Field {
  return { label, type, value: value?.toString() ?? '', isOptional: true, hint };
}

export type Fields = Readonly<Record<string, Field>>;

/** Submitted values of a form that was refused without any change, and the reason. */
export interface RefusedForm extends FormFields {
  readonly refusal: ServiceError;
  /** Path that the form was submitted to, which identifies it among a page's forms. */
  readonly path: string;
  /** Wrong fields that the page shows, in order. `formFields` adds them for the summary. */
  readonly shown: { readonly id: string; readonly label: string }[];
}

export function refusedForm(form: FormFields, refusal: ServiceError, path: string): RefusedForm {
  return { ...form, refusal, path: path.replace(/\?.*$/, ''), shown: [] };
}

export interface FormVisit {
  readonly refused?: RefusedForm | undefined;
}

function refusedAt({ refused }: FormVisit, action: string): RefusedForm | undefined {
  return refused?.path === action.replace(/[?#].*$/, '') ? refused : undefined;
}

export interface CardForm {
  readonly action: string;
  readonly title?: string;
  readonly fields: Fields;
  readonly more?: Html;
  readonly button: string;
}

export function cardForm(
  visit: FormVisit,
  { action, title, fields, more = nothing, button }: CardForm,
): Html {
  return html`<form class="card" method="post" action="${action}">${title === undefined ? nothing : html`<h2>${title}</h2>`}
${formFields(visit, action, fields)}${more}
<div class="actions"><button class="button primary">${button}</button></div></form>`;
}

export function foldedForm(
  visit: FormVisit,
  action: string,
  summary: string,
  form: Html,
  isAskedFor = false,
): Html {
  const open = isAskedFor || refusedAt(visit, action) !== undefined ? html` open` : nothing;
  return html`<details${open}><summary>${summary}</summary>${form}</details>`;
}

interface FoldedAction {
  readonly action: string;
  readonly summary: string | Html;
  readonly effect?: Html;
  readonly button: string;
  readonly field?: { readonly name: string; readonly value: string };
}

/** Renders an action that cannot be undone or affects customers, collapsed so that it takes two clicks. */
export function foldedAction(folded: FoldedAction): Html {
  const { action, summary, effect = nothing, button, field } = folded;
  const hidden = field && html`<input type="hidden" name="${field.name}" value="${field.value}">`;
  return html`<details><summary>${summary}</summary>
<form class="fields" method="post" action="${action}">${hidden ?? nothing}${effect}
<p class="actions"><button class="button danger">${button}</button></p></form></details>`;
}

/** Renders fields with labels, hints and errors. A refused form keeps its values and focuses the first wrong field. */
export function formFields(visit: FormVisit, action: string, fields: Fields): Html {
  const refused = refusedAt(visit, action);
  return html`${Object.entries(fields).map(([name, field]) => {
    if (refused === undefined) return formField(name, field);
    const typed = field.type === 'checkbox' ? refused.has(name) : refused.text(name);
    return formField(name, { ...field, value: typed }, errorAt(refused, name, field));
  })}`;
}

type FieldError = Omit<Notes, 'hint'>;

/** Returns the error of a field. Adds a wrong field to the page's summary. */
export function errorAt(
  { refusal, shown }: RefusedForm,
  name: string,
  { id = name, label }: Pick<Field, 'id' | 'label'>,
): FieldError {
  // Also matches command-line option names, which contain hyphens.
  const problem = [...refusal.problems].find(([field]) => field.replaceAll(/[- ]/g, '_') === name)?.[1];
  if (problem === undefined) return {};
  return { error: sentenceOf(problem), hasFocus: shown.push({ id, label }) === 1 };
}

/** Renders a field with label, hint and error. Passwords and codes are never filled in. */
export function formField(name: string, field: Field, error: FieldError = {}): Html {
  const { label, type = 'text', id = name, value = '', options = [], wordsOf, sign } = field;
  const { autocomplete = type === 'password' ? 'current-password' : 'off', isOptional = false } = field;
  const isSecret = type === 'password' || autocomplete === 'one-time-code';
  const text = isSecret ? '' : String(value);
  const notes = { hint: field.hint, ...error };
  const attributes = describedBy(id, notes);
  switch (type) {
    case 'checkbox':
      return html`<div class="field">
<div class="actions">${tickField({ type, name, id, label, isChecked: value === true, attributes })}</div>${notesOf(id, notes)}</div>`;
    case 'select':
      return html`<div class="field"><label for="${id}">${label}</label><select id="${id}"
name="${name}"${attributes}>${optionsOf(options, text, wordsOf)}</select>${notesOf(id, notes)}</div>`;
    case 'textarea':
      return html`<div class="field"><label for="${id}">${label}</label><textarea id="${id}" name="${name}" rows="3" maxlength="1000"${attributes}>
${text}</textarea>${notesOf(id, notes)}</div>`;
    default: {
      const more = Object.entries({ inputmode: field.inputMode, accept: field.accept }).map(
        ([named, given]) => (given === undefined ? nothing : html` ${named}="${given}"`),
      );
      const input = html`<input id="${id}" name="${name}" type="${type}" value="${text}"
autocomplete="${autocomplete}"${more}${attributes}${isOptional ? nothing : html` required`}>`;
      return html`<div class="field">
<label for="${id}">${label}</label>
${sign === undefined ? input : html`<span class="money" dir="ltr"><span aria-hidden="true">${sign}</span>${input}</span>`}
${notesOf(id, notes)}
</div>`;
    }
  }
}

/** @param ends sentence on what the change ends besides passkey-only sign-in (`updateUser`); absent for a new user */
export function newPassword(ends?: string): Fields {
  const passkeys = 'Passkeys are a second factor again: remove and add yours again to sign in with it alone.';
  const hint = `At least 12 characters.${ends === undefined ? '' : ` ${ends} ${passkeys}`}`;
  return { new_password: { label: 'New password', type: 'password', autocomplete: 'new-password', hint } };
}

/** Renders the alert above a refused form, with links to the wrong fields or else the reason. */
export function refusalBanner(refused: RefusedForm | undefined): Html {
  if (refused === undefined) return nothing;
  const { refusal, shown } = refused;
  if (shown.length === 0) return banner('bad', refusal.message);
  const links = shown.map(
    ({ id, label }, index) => html`${index === 0 ? '' : ', '}<a href="#${id}">${label}</a>`,
  );
  return html`<p class="banner bad" role="alert">Nothing was saved. Check: ${links}.</p>`;
}

/** Turns "must be a date" into "Must be a date.", and "is not a date" into "This is not a date." */
export function sentenceOf(problem: string): string {
  const whole = /^(?:is|has|needs|can) /.test(problem) ? `this ${problem}` : problem;
  const sentence = `${whole.charAt(0).toUpperCase()}${whole.slice(1)}`;
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
