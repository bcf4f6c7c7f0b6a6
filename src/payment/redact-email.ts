import { invalidField } from './errors.ts';

const MAXIMUM_RETENTION_DAYS = 3_650;

/** Parses the number of days that customers' email addresses are kept. Throws `invalid_request` for other text. */
export function parseRetentionDays(text: string, field: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAXIMUM_RETENTION_DAYS) {
    throw invalidField(field, `must be a number of days from 1 to ${MAXIMUM_RETENTION_DAYS}`);
  }
  return days;
}

/** Replaces an erased email address in stored webhooks. No valid address has this form. */
export const ERASED = '[erased]';

/** Removes the email address from a webhook's fields. A mark replaces it in sent webhooks, and null in unsent ones. */
export function withoutEmail<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
  { isSent }: { readonly isSent: boolean },
): Fields {
  if (typeof fields['email'] !== 'string') return fields;
  return { ...fields, email: isSent ? ERASED : null };
}

/** Returns a sent webhook's body with the mark in place of the address. The webhook's signature no longer matches. */
export function bodyWithoutEmail(body: string): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  const rest = withoutEmail(fields, { isSent: true });
  return rest === fields ? body : JSON.stringify(rest);
}

/** Replaces an email address, in any case or URL-encoded, in a text that may repeat it, such as a receiver's answer. */
export function textWithoutEmail(text: string, email: string, mark = ERASED): string {
  const forms = [email, encodeURIComponent(email)].map((form) => form.replaceAll(/\W/g, '\\$&'));
  return text.replaceAll(new RegExp(forms.join('|'), 'gi'), mark);
}
