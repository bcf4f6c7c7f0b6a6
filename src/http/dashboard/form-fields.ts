import { invalidField } from '../../domain/errors.ts';

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
