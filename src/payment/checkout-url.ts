import type { Payment } from './payment.ts';
import { MULTI_PROVIDER } from './provider-catalog.ts';

/** Returns a checkout page's URL, with `auto=1` for a single provider, and with the email address to prefill. */
export function checkoutUrl(
  baseUrl: string,
  { id, provider, email }: Pick<Payment, 'id' | 'provider' | 'email'>,
): string {
  const query = [
    ...(provider === MULTI_PROVIDER ? [] : ['auto=1']),
    // Escapes "'", which could end a quoted attribute on a merchant's page.
    ...(email === null ? [] : [`email=${encodeURIComponent(email).replaceAll("'", '%27')}`]),
  ];
  return `${baseUrl}/pay/${id}${query.length === 0 ? '' : '?'}${query.join('&')}`;
}

/** Query parameter for a provider that does not serve the customer's region. It affects only what the page shows. */
export const UNSERVED = 'unserved';

/** Trims and lowercases an email address and normalizes its Unicode composition, because people retype links. */
export function canonicalEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
