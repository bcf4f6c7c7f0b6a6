/** A shop's hosts, to which checkouts may return, and whose pages may frame them. */
import { invalidField } from '../payment/errors.ts';
import { isSecureUrl } from '../platform/public-address.ts';

const MAXIMUM_RETURN_HOSTS = 20;

/** Parses hosts, with ports if given, to their form in URLs. Throws `invalid_request` for other text or too many. */
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

/** Hosts allowed in a Content-Security-Policy; its sources cannot be IPv6 addresses. */
const policyHost = /^[a-z0-9._-]+(?::\d+)?$/;

/** Origins of the saved hosts, whose pages may frame a checkout: https, and http on this machine. */
export function shopOriginsOf(returnHosts: readonly string[]): readonly string[] {
  return returnHosts
    .filter((host) => policyHost.test(host))
    .map((host) =>
      isSecureUrl(new URL(`http://${host}`)) ? new URL(`http://${host}`).origin : `https://${host}`,
    );
}
