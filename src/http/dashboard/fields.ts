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
}: TextField): Html {
  const hintId = `${id}-hint`;
  const described = hint === undefined ? nothing : html` aria-describedby="${hintId}"`;
  return html`<div class="field">
<label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${described}${isOptional ? nothing : html` required`}>
${hint === undefined ? nothing : html`<p class="hint" id="${hintId}">${hint}</p>`}
</div>`;
}

/** The password that somebody has already. */
export function passwordField({
  id = 'password',
  label = 'Password',
}: Partial<Pick<TextField, 'id' | 'label'>> = {}): Html {
  return textField({ name: 'password', id, label, type: 'password', autocomplete: 'current-password' });
}

interface TickField {
  readonly type: 'checkbox' | 'radio';
  readonly name: string;
  /** The name, unless a page has several fields of it. */
  readonly id?: string;
  readonly value?: string;
  readonly label: string;
  readonly isChecked: boolean;
}

/** A box to tick or a button to choose, with its label beside it; the row they stand in is the form's. */
export function tickField({ type, name, id = name, value = '1', label, isChecked }: TickField): Html {
  const checked = isChecked ? html` checked` : nothing;
  return html`<input id="${id}" name="${name}" type="${type}" value="${value}"${checked}><label for="${id}">${label}</label>`;
}

/** What went wrong or well, told to screen readers at once. */
export function notice(tone: 'good' | 'bad' | 'warn', text: string): Html {
  return tone === 'bad'
    ? html`<p class="notice bad" role="alert">${text}</p>`
    : html`<p class="notice ${tone}" role="status">${text}</p>`;
}
