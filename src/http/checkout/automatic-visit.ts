import type { IncomingHttpHeaders } from 'node:http';
import type { Payment } from '../../domain/payment.ts';
import { isProviderId, type ProviderId } from '../../domain/provider-catalogue.ts';

/** Fetch links to show a preview or to index them. (Cubot makes telephones.) */
const previewAgent =
  /(?<!cu)bot\b|crawl|spider|preview|facebookexternalhit|^whatsapp\/|skypeuri|embedly|iframely|slurp|pinterest\/|vkshare|mediapartners|bingbot|yandex(?:images|media)|google-(?:read-aloud|inspectiontool)/i;

/** Whether this visitor is not a customer who follows the link, but something that looks at it beforehand. */
export function isPreview(headers: IncomingHttpHeaders): boolean {
  const purposes = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'].map((name) =>
    String(headers[name] ?? ''),
  );
  if (purposes.some((purpose) => /prefetch|prerender|preview/i.test(purpose))) return true;
  // Where the browser says what it loads, only a page in its own right is a customer's visit.
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined && destination !== 'document') return true;
  return previewAgent.test(headers['user-agent'] ?? '');
}

/**
 * The provider that opening the checkout leads straight to, or null for the page. `auto=1` counts only for a payment
 * with a single provider and a stored e-mail (not one edited into the query). `returned=1` stands in the address to
 * which providers send the customer back: they get the page, not the same redirect again.
 */
export function automaticProvider(
  payment: Payment,
  query: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
): ProviderId | null {
  if (query['auto'] !== '1' || query['returned'] !== undefined) return null;
  if (!isProviderId(payment.provider) || payment.email === null) return null;
  return isPreview(headers) ? null : payment.provider;
}
