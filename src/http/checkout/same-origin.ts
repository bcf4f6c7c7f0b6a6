import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a form came from our own page. There is no session that another site could abuse, but it could start
 * visits at providers on customers' behalf. Browsers say where a form comes from; what says nothing is none.
 */
export function isSameOrigin(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  return origin === undefined || isOwnAddress(origin, headers, baseUrl);
}

/** Whether the browser followed a link or a refresh of our own page, and says so. */
export function comesFromOwnPage(headers: IncomingHttpHeaders, baseUrl: string): boolean {
  return headers.referer !== undefined && isOwnAddress(headers.referer, headers, baseUrl);
}

function isOwnAddress(address: string, headers: IncomingHttpHeaders, baseUrl: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  // The sandbox is reached by several names of loopback, of which the base address has one.
  return url.origin === new URL(baseUrl).origin || url.host === headers.host;
}
