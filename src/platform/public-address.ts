import { BlockList, isIP } from 'node:net';

// Decides which IP addresses are public, by the IANA special-purpose address registries (RFC 6890 and its updates).
// Ranges that are not globally reachable are refused. Uses Node's parser instead of `ipaddr.js`, which accepts
// `0x8.8.8.8` and `01.2.3.4`, and `::1.2.3.4` for `::ffff:1.2.3.4`.

/** IPv4 ranges that never contain a merchant's public server. */
const REFUSED_IPV4 = [
  ['0.0.0.0', 8], // RFC 791: "this network"; many systems treat 0.0.0.0 as loopback
  ['10.0.0.0', 8], // RFC 1918: private use
  ['100.64.0.0', 10], // RFC 6598: shared space behind carrier NAT; contains Alibaba's metadata service
  ['127.0.0.0', 8], // RFC 1122: loopback
  ['168.63.129.16', 32], // Azure WireServer: in a public range, but serves secrets, and only inside Azure
  ['169.254.0.0', 16], // RFC 3927: link-local; contains the metadata services of most clouds
  ['172.16.0.0', 12], // RFC 1918: private use
  ['192.0.0.0', 24], // RFC 6890: IETF protocol assignments, DS-Lite, NAT64 discovery
  ['192.0.2.0', 24], // RFC 5737: documentation, TEST-NET-1
  ['192.88.99.0', 24], // RFC 7526: deprecated 6to4 relays, which forward to an address that the sender chooses
  ['192.168.0.0', 16], // RFC 1918: private use
  ['198.18.0.0', 15], // RFC 2544: benchmarking
  ['198.51.100.0', 24], // RFC 5737: documentation, TEST-NET-2
  ['203.0.113.0', 24], // RFC 5737: documentation, TEST-NET-3
  ['224.0.0.0', 4], // RFC 5771: multicast
  ['240.0.0.0', 4], // RFC 1112: reserved, and the limited broadcast address
] as const;

/** Only block from which IANA allocates global unicast addresses. All others are special or unallocated. */
const GLOBAL_UNICAST_IPV6 = ['2000::', 3] as const;

/** Parts of the global unicast block that contain no public servers. */
const REFUSED_IPV6 = [
  ['2001::', 23], // RFC 2928: IETF protocol assignments (Teredo, ORCHID, benchmarking)
  ['2001:db8::', 32], // RFC 3849: documentation
  ['2002::', 16], // RFC 3056: 6to4, which wraps an IPv4 address that the sender chooses
  ['3fff::', 20], // RFC 9637: documentation
] as const;

const IPV6 = 'ipv6';

const refused = new BlockList();
for (const [address, bits] of REFUSED_IPV4) refused.addSubnet(address, bits);
for (const [address, bits] of REFUSED_IPV6) refused.addSubnet(address, bits, IPV6);
const globalUnicastIpv6 = new BlockList();
globalUnicastIpv6.addSubnet(...GLOBAL_UNICAST_IPV6, IPV6);
/** IPv6 addresses in which DNS64 resolvers embed IPv4 addresses for IPv6-only hosts (RFC 6052). */
const nat64 = new BlockList();
nat64.addSubnet('64:ff9b::', 96, IPV6);
/** IPv6 addresses of IPv4 peers on an IPv6 socket (RFC 4291). */
const mappedIpv4 = new BlockList();
mappedIpv4.addSubnet('::ffff:0:0', 96, IPV6);

/** Returns whether an IP literal (IPv6 without brackets) is public. NAT64 addresses are not public. */
export function isPublicAddress(address: string): boolean {
  const family = addressFamily(address);
  if (family === null) return false;
  if (family === 4) return !refused.check(address);
  return globalUnicastIpv6.check(address, IPV6) && !refused.check(address, IPV6);
}

/** Returns whether a resolved address is public. Checks the IPv4 address that DNS64 embeds for IPv4-only hosts. */
export function isPublicResolvedAddress(address: string): boolean {
  const isWrapped = addressFamily(address) === 6 && nat64.check(address, IPV6);
  return isPublicAddress(isWrapped ? wrappedIpv4(address) : address);
}

/** Normalizes an IP address to dotted IPv4 (even if mapped or NAT64) or the shortest IPv6; null for other text. */
export function addressIdentity(address: string): string | null {
  const family = addressFamily(address);
  if (family !== 6) return family === null ? null : address;
  const isWrapped = nat64.check(address, IPV6) || mappedIpv4.check(address, IPV6);
  return isWrapped ? wrappedIpv4(address) : shortIpv6(address);
}

/** Normalizes a public IP address like `addressIdentity`; null for other addresses, which no customer can have. */
export function canonicalPublicAddress(address: string): string | null {
  const canonical = addressIdentity(address);
  return canonical !== null && isPublicAddress(canonical) ? canonical : null;
}

/** Maximum length of a peer's address, longer than any address with zone and port. */
const LONGEST_PEER = 100;

/** Parses a peer's address from a socket or header, even with zone, port, brackets or quotes; null for other text. */
export function peerAddress(text: string): string | null {
  if (text.length > LONGEST_PEER) return null;
  const written = text.trim().replace(/^"(.*)"$/, '$1');
  const host = (/^\[([^\]]*)\](?::\d+)?$/.exec(written) ?? /^(.*\.\d+):\d+$/.exec(written))?.[1] ?? written;
  return addressIdentity(host.replace(/%.*$/, ''));
}

/** Returns 4 or 6 for an IP address; null for other text, and for addresses with leading zeros or zones. */
export function addressFamily(address: string): 4 | 6 | null {
  const version = address.includes('%') ? 0 : isIP(address);
  return version === 4 || version === 6 ? version : null;
}

/** Returns the shortest form of an IPv6 address, with hexadecimal groups only. */
function shortIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** Returns the IPv4 address embedded in the last two groups of an IPv6 address. An omitted group counts as 0. */
function wrappedIpv4(address: string): string {
  const groups = shortIpv6(address).split(':').slice(-2);
  const [high, low] = groups.map((group) => Number.parseInt(group, 16)) as [number, number];
  return [high >>> 8, high & 0xff, low >>> 8, low & 0xff].join('.');
}

/** Returns a URL's host. Adds the port only for this machine, where each port may be a tunnel to another host. */
export function hostIdentity(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const name = hostname.replace(/\.+$/, '');
  const address = addressIdentity(name.replace(/^\[|\]$/g, ''));
  // Treats all addresses of this machine as one host, because a listener may accept connections on all of them.
  const isOwn = address === null ? ownName.test(name) : ownAddress.test(address);
  if (isOwn) return `localhost:${port || (protocol === 'https:' ? 443 : 80)}`;
  return address ?? name;
}

const ownName = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;

/** Addresses of this machine, as `addressIdentity` returns them: 127.0.0.0/8, ::1, 0.0.0.0 and ::. */
const ownAddress = /^(?:127\.[0-9.]+|0\.0\.0\.0|::1?)$/;

const loopback = /^(?:localhost|::1|\[::1\]|(?:::ffff:)?127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/i;

/** Returns whether a host name or address, with or without brackets, is a loopback host. */
export function isLoopbackHost(host: string): boolean {
  return loopback.test(host);
}

/** Returns whether traffic to a URL is safe from intermediaries: with https, or with http on this machine. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
