import { invalidField } from './errors.ts';

const MAXIMUM_RETENTION_DAYS = 3_650;

/** Parses the number of days to keep customers' email addresses. Throws `invalid_request` for other text. */
export function parseRetentionDays(text: string, field: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAXIMUM_RETENTION_DAYS) {
    throw invalidField(field, `must be a number of days from 1 to ${MAXIMUM_RETENTION_DAYS}`);
  }
  return days;
}

/** Text that replaces an erased email address in stored webhooks. No valid address has this form. */
export const ERASED = '[erased]';

/** Returns webhook fields without the email address: `ERASED` replaces it in sent webhooks, null in unsent ones. */
export function withoutEmail<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
  { isSent }: { readonly isSent: boolean },
): Fields {
  if (typeof fields['email'] !== 'string') return fields;
  return { ...fields, email: isSent ? ERASED : null };
}

/** Returns a sent webhook's body with `ERASED` in place of the email address. The body no longer fits its signature. */
export function bodyWithoutEmail(body: string): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  const rest = withoutEmail(fields, { isSent: true });
  return rest === fields ? body : JSON.stringify(rest);
}

/** Replaces an email address, in any letter case or URL-encoded, in a text such as a webhook receiver's response. */
export function textWithoutEmail(text: string, email: string, mark = ERASED): string {
  const forms = [email, encodeURIComponent(email)].map((form) => form.replaceAll(/\W/g, '\\$&'));
  return text.replaceAll(new RegExp(forms.join('|'), 'gi'), mark);
}
