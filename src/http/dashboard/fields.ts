import { type Html, html, nothing } from '../design/html.ts';

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
export function notice(tone: 'good' | 'bad' | 'warn', text: string): Html {
  return tone === 'bad'
    ? html`<p class="notice bad" role="alert">${text}</p>`
    : html`<p class="notice ${tone}" role="status">${text}</p>`;
}
