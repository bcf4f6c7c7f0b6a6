/** Parses the hosts of a shop to which checkouts may return, and whose pages may frame checkouts. */
import { invalidField } from '../payment/errors.ts';
import { isSecureUrl } from '../platform/public-address.ts';

const MAXIMUM_RETURN_HOSTS = 20;

/** Normalizes hosts with optional ports. Throws `invalid_request` for other text or too many hosts. */
export function parseReturnHosts(text: string): readonly string[] {
  const hosts = text.split(/[\s,]+/).filter((typed) => typed !== '');
  if (hosts.length > MAXIMUM_RETURN_HOSTS)
    throw invalidField('return-hosts', `must be at most ${MAXIMUM_RETURN_HOSTS} hosts`);
  return [...new Set(hosts.map(parseReturnHost))];
}

function parseReturnHost(typed: string): string {
  const url = URL.parse(`https://${typed}`);
  const isHost =
    url !== null && url.href === `https://${url.host}/` && /^[^*/?#@\\]+[^*/?#@\\.]$/.test(typed);
  if (isHost) return url.host;
  throw invalidField(
    'return-hosts',
    'must be hosts such as shop.example.com or shop.example.com:8443, without https:// and without wildcards',
  );
}

/** Form of a host in a Content-Security-Policy, which does not support IPv6 addresses. */
const policyHost = /^[a-z0-9._-]+(?::\d+)?$/;

/** Returns the origins whose pages may frame a checkout. Only loopback origins use http. */
export function shopOriginsOf(returnHosts: readonly string[]): readonly string[] {
  return returnHosts
    .filter((host) => policyHost.test(host))
    .map((host) =>
      isSecureUrl(new URL(`http://${host}`)) ? new URL(`http://${host}`).origin : `https://${host}`,
    );
}
