import type { IncomingHttpHeaders } from 'node:http';
import type { CheckoutPagesContext } from './context.ts';

/** What proxies write when they do not know, or for a network that hides it. */
const NO_COUNTRY: ReadonlySet<string> = new Set(['XX', 'ZZ', 'T1', 'A1', 'A2']);

/**
 * Where the customer lives as far as the operator's proxy can tell (ISO 3166-1 alpha-2), or null. Who writes the header
 * themselves misleads nobody but themselves: it decides what their own provider asks.
 */
export function customerCountry(
  { countryHeader }: Pick<CheckoutPagesContext, 'countryHeader'>,
  headers: IncomingHttpHeaders,
): string | null {
  const value = countryHeader === null ? undefined : headers[countryHeader];
  const country = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return /^[A-Z]{2}$/.test(country) && !NO_COUNTRY.has(country) ? country : null;
}
