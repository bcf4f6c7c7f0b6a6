import { type Html, html, nothing } from '../design/html.ts';

interface TextField {
  readonly name: string;
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
  label,
  type = 'text',
  value = '',
  autocomplete = 'off',
  hint,
  isOptional = false,
}: TextField): Html {
  const hintId = `${name}-hint`;
  const described = hint === undefined ? nothing : html` aria-describedby="${hintId}"`;
  return html`<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="${autocomplete}"${described}${isOptional ? nothing : html` required`}>
${hint === undefined ? nothing : html`<p class="hint" id="${hintId}">${hint}</p>`}
</div>`;
}

/** What went wrong or well, told to screen readers at once. */
export function notice(tone: 'good' | 'bad' | 'warn', text: string): Html {
  return tone === 'bad'
    ? html`<p class="notice bad" role="alert">${text}</p>`
    : html`<p class="notice ${tone}" role="status">${text}</p>`;
}
