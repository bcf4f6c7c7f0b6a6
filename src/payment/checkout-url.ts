import type { Payment } from './payment.ts';
import { MULTI_PROVIDER } from './provider-catalog.ts';

/** Returns the URL of a checkout page, with `auto=1` for a single provider and the email address for prefilling. */
export function checkoutUrl(
  baseUrl: string,
  { id, provider, email }: Pick<Payment, 'id' | 'provider' | 'email'>,
): string {
  const query = [
    ...(provider === MULTI_PROVIDER ? [] : ['auto=1']),
    // A bare "'" could end an attribute on a merchant's page.
    ...(email === null ? [] : [`email=${encodeURIComponent(email).replaceAll("'", '%27')}`]),
  ];
  return `${baseUrl}/pay/${id}${query.length === 0 ? '' : '?'}${query.join('&')}`;
}

/** Query parameter for a provider that does not serve the customer's region. It affects only the display. */
export const UNSERVED = 'unserved';

/** Normalizes surrounding space, case and Unicode composition, because people retype links. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
