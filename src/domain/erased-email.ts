/** What stands in stored webhooks in place of a customer's e-mail address that was erased. No address looks like it. */
const ERASED = '[erased]';

/** The fields of a webhook without the address: as if there had been none where it is still to be sent. */
export function withoutEmail<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
  { isSent }: { readonly isSent: boolean },
): Fields {
  if (typeof fields['email'] !== 'string') return fields;
  return { ...fields, email: isSent ? ERASED : null };
}

/** The body of a webhook that was sent, with the mark in place of the address; its signature is not of this text any more. */
export function bodyWithoutEmail(body: string): string {
  const fields = JSON.parse(body) as Record<string, unknown>;
  const rest = withoutEmail(fields, { isSent: true });
  return rest === fields ? body : JSON.stringify(rest);
}

/** Whether the address was erased from a webhook's body. */
export function isEmailErased(body: string): boolean {
  return body.includes(`"email":"${ERASED}"`);
}

/** A receiver's answer, which may repeat what it was sent, without the address as text or as a part of an address on the web. */
export function textWithoutEmail(text: string, email: string): string {
  const forms = new Set([email, encodeURIComponent(email), email.toLowerCase()]);
  return [...forms].reduce((rest, form) => rest.replaceAll(form, ERASED), text);
}
