import type { Payment } from './payment.ts';
import { MULTI_PROVIDER } from './provider-catalog.ts';

/** URL of a checkout, with `auto=1` for a single provider and the given email address to prefill the page. */
export function checkoutUrl(
  baseUrl: string,
  { id, provider, email }: Pick<Payment, 'id' | 'provider' | 'email'>,
): string {
  const query = [
    ...(provider === MULTI_PROVIDER ? [] : ['auto=1']),
    // A bare "'" could end an attribute in a merchant's page.
    ...(email === null ? [] : [`email=${encodeURIComponent(email).replaceAll("'", '%27')}`]),
  ];
  return `${baseUrl}/pay/${id}${query.length === 0 ? '' : '?'}${query.join('&')}`;
}

/** Name of the query parameter for a provider that does not serve the customer's region. Affects only the display. */
export const UNSERVED = 'unserved';

/** Ignores surrounding space, case and Unicode composition, because links are retyped. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
