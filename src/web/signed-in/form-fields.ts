import { invalidFields, ServiceError } from '../../payment/errors.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { banner, describedBy, type FormFields, type Notes, notesOf, optionsOf, tickField } from './forms.ts';

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
  /** Hint for browsers and password managers (`username`). */
  readonly autocomplete?: string;
  readonly inputMode?: 'decimal';
  readonly sign?: string;
  /** Media types of a file. */
  readonly accept?: string;
  /** Defaults to the name; needed if a page has several fields of one name. */
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

/** Submitted values of a form that changed nothing, and the reason. */
export interface RefusedForm extends FormFields {
  readonly refusal: ServiceError;
  /** Path that it was submitted to, which identifies it among a page's forms. */
  readonly path: string;
  /** Wrong fields that the page shows, in order: `formFields` adds them for the summary. */
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

/** Action that cannot be undone or stops customers, folded so that one click does nothing. */
export function foldedAction(folded: FoldedAction): Html {
  const { action, summary, effect = nothing, button, field } = folded;
  const hidden = field && html`<input type="hidden" name="${field.name}" value="${field.value}">`;
  return html`<details><summary>${summary}</summary>
<form class="fields" method="post" action="${action}">${hidden ?? nothing}${effect}
<p class="actions"><button class="button danger">${button}</button></p></form></details>`;
}

/** Fields with labels, hints and errors. A refused form shows what was typed, and focuses the first wrong field. */
export function formFields(visit: FormVisit, action: string, fields: Fields): Html {
  const refused = refusedAt(visit, action);
  return html`${Object.entries(fields).map(([name, field]) => {
    if (refused === undefined) return formField(name, field);
    const typed = field.type === 'checkbox' ? refused.has(name) : refused.text(name);
    return formField(name, { ...field, value: typed }, errorAt(refused, name, field));
  })}`;
}

type FieldError = Omit<Notes, 'hint'>;

/** The error of a field. Adds a wrong field to the page's summary. */
export function errorAt(
  { refusal, shown }: RefusedForm,
  name: string,
  { id = name, label }: Pick<Field, 'id' | 'label'>,
): FieldError {
  // Also matches names of command line options, which have hyphens.
  const problem = [...refusal.problems].find(([field]) => field.replaceAll(/[- ]/g, '_') === name)?.[1];
  if (problem === undefined) return {};
  return { error: sentenceOf(problem), hasFocus: shown.push({ id, label }) === 1 };
}

/** A field with label, hint and error. Passwords and codes are never filled in. */
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

/** @param ends what a new password of a known user ends, besides that passkeys sign in alone (`updateUser`) */
export function newPassword(ends?: string): Fields {
  const passkeys = 'Passkeys are a second factor again: remove and add yours again to sign in with it alone.';
  const hint = `At least 12 characters.${ends === undefined ? '' : ` ${ends} ${passkeys}`}`;
  return { new_password: { label: 'New password', type: 'password', autocomplete: 'new-password', hint } };
}

/** Alert above a page with a refused form: links to the wrong fields, or the reason. */
export function refusalBanner(refused: RefusedForm | undefined): Html {
  if (refused === undefined) return nothing;
  const { refusal, shown } = refused;
  if (shown.length === 0) return banner('bad', refusal.message);
  const links = shown.map(
    ({ id, label }, index) => html`${index === 0 ? '' : ', '}<a href="#${id}">${label}</a>`,
  );
  return html`<p class="banner bad" role="alert">Nothing was saved. Check: ${links}.</p>`;
}

/** Resolves to the values of all fields. Throws one `invalid_request` with the errors of all; rethrows other errors. */
export async function checkFields<Checks extends Readonly<Record<string, () => unknown>>>(checks: Checks) {
  const problems = new Map<string, string>();
  const read: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks)) {
    try {
      read[name] = await check();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.errorName !== 'invalid_request') throw error;
      problems.set(name, [...error.problems.values()][0] ?? error.message);
    }
  }
  if (problems.size > 0) throw invalidFields(problems);
  return read as { readonly [Name in keyof Checks]: Awaited<ReturnType<Checks[Name]>> };
}

/** "must be a date" → "Must be a date."; "is not a date" → "This is not a date." */
export function sentenceOf(problem: string): string {
  const whole = /^(?:is|has|needs|can) /.test(problem) ? `this ${problem}` : problem;
  const sentence = `${whole.charAt(0).toUpperCase()}${whole.slice(1)}`;
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
