import { BlockList, isIP } from 'node:net';

/**
 * Which IP addresses belong to the public Internet, so that a merchant's callback may lead there.
 *
 * Source: the IANA special-purpose address registries (RFC 6890 and its updates), read strictly: what a registry
 * does not call globally reachable is refused, and so is what only the present allocation makes unreachable.
 *
 * Node reads the addresses, not `ipaddr.js`: that takes `0x8.8.8.8` and `01.2.3.4`, and `::1.2.3.4` for `::ffff:1.2.3.4`.
 */

/** Every entry is an IPv4 range that is never a merchant's public server. */
const REFUSED_IPV4 = [
  ['0.0.0.0', 8], // RFC 791: "this network"; many systems treat 0.0.0.0 as loopback
  ['10.0.0.0', 8], // RFC 1918: private use
  ['100.64.0.0', 10], // RFC 6598: shared space behind carrier NAT; Alibaba's metadata service lives in it
  ['127.0.0.0', 8], // RFC 1122: loopback
  ['168.63.129.16', 32], // Azure WireServer: a public range, but it answers only inside Azure, with secrets
  ['169.254.0.0', 16], // RFC 3927: link-local; the metadata services of most clouds
  ['172.16.0.0', 12], // RFC 1918: private use
  ['192.0.0.0', 24], // RFC 6890: IETF protocol assignments, DS-Lite, NAT64 discovery
  ['192.0.2.0', 24], // RFC 5737: documentation, TEST-NET-1
  ['192.88.99.0', 24], // RFC 7526: deprecated 6to4 relays, which lead to an address of the sender's choice
  ['192.168.0.0', 16], // RFC 1918: private use
  ['198.18.0.0', 15], // RFC 2544: benchmarking
  ['198.51.100.0', 24], // RFC 5737: documentation, TEST-NET-2
  ['203.0.113.0', 24], // RFC 5737: documentation, TEST-NET-3
  ['224.0.0.0', 4], // RFC 5771: multicast
  ['240.0.0.0', 4], // RFC 1112: reserved, and the limited broadcast address
] as const;

/** IANA allocates global unicast from this block only; everything else is special or not allocated. */
const GLOBAL_UNICAST_IPV6 = ['2000::', 3] as const;

/** The parts of the global unicast block that do not belong to public servers. */
const REFUSED_IPV6 = [
  ['2001::', 23], // RFC 2928: IETF protocol assignments: Teredo, ORCHID, benchmarking
  ['2001:db8::', 32], // RFC 3849: documentation
  ['2002::', 16], // RFC 3056: 6to4 wraps an IPv4 address of the sender's choice
  ['3fff::', 20], // RFC 9637: documentation
] as const;

const IPV6 = 'ipv6';

const refused = new BlockList();
for (const [address, bits] of REFUSED_IPV4) refused.addSubnet(address, bits);
for (const [address, bits] of REFUSED_IPV6) refused.addSubnet(address, bits, IPV6);
const globalUnicastIpv6 = new BlockList();
globalUnicastIpv6.addSubnet(...GLOBAL_UNICAST_IPV6, IPV6);
/** IPv4 addresses as a DNS64 resolver wraps them for hosts that only have IPv6 (RFC 6052). */
const nat64 = new BlockList();
nat64.addSubnet('64:ff9b::', 96, IPV6);
/** IPv4 peers on an IPv6 socket (RFC 4291). */
const mappedIpv4 = new BlockList();
mappedIpv4.addSubnet('::ffff:0:0', 96, IPV6);

/**
 * Whether a written address (an IP literal in a URL) is public. A NAT64 literal is not: no
 * merchant has reason to write one, whatever it wraps.
 *
 * @param address canonical text, IPv6 without brackets; anything that is no address is not public
 */
export function isPublicAddress(address: string): boolean {
  const family = addressFamily(address);
  if (family === null) return false;
  if (family === 4) return !refused.check(address);
  return globalUnicastIpv6.check(address, IPV6) && !refused.check(address, IPV6);
}

/**
 * Whether an address from a DNS answer is public. A NAT64 address counts as the IPv4 address it wraps: in a
 * network that only has IPv6, DNS64 gives such an answer for every IPv4-only merchant.
 *
 * @param address canonical text; anything that is no address is not public
 */
export function isPublicResolvedAddress(address: string): boolean {
  const isWrapped = addressFamily(address) === 6 && nat64.check(address, IPV6);
  return isPublicAddress(isWrapped ? wrappedIpv4(address) : address);
}

/**
 * One spelling for each host an address leads to: two addresses with the same identity reach the same interface.
 * IPv4 addresses that are wrapped for NAT64 or mapped into IPv6 have the identity of the IPv4 address. It is the
 * dotted IPv4 address, or the shortest form of the IPv6 address in hexadecimal groups.
 *
 * @returns null for text that is no address
 */
export function addressIdentity(address: string): string | null {
  const family = addressFamily(address);
  if (family !== 6) return family === null ? null : address;
  const isWrapped = nat64.check(address, IPV6) || mappedIpv4.check(address, IPV6);
  return isWrapped ? wrappedIpv4(address) : shortIpv6(address);
}

/**
 * The canonical form of a public address: IPv4 in decimal, also if it is mapped into IPv6, or IPv6 in lower case and
 * compressed. Null for anything else, so that the address of a proxy or of this machine never stands for a customer's.
 */
export function canonicalPublicAddress(address: string): string | null {
  const canonical = addressIdentity(address);
  return canonical !== null && isPublicAddress(canonical) ? canonical : null;
}

/** Longer than any address with a zone and a port. */
const LONGEST_PEER = 100;

/**
 * The address of a peer in one spelling, as `addressIdentity` has it: from a socket, which adds a zone or maps IPv4 into
 * IPv6, or as a proxy forwards it, with a port, brackets or quotes. Null for text that is no address.
 */
export function peerAddress(text: string): string | null {
  if (text.length > LONGEST_PEER) return null;
  const written = text.trim().replace(/^"(.*)"$/, '$1');
  const host = (/^\[([^\]]*)\](?::\d+)?$/.exec(written) ?? /^(.*\.\d+):\d+$/.exec(written))?.[1] ?? written;
  return addressIdentity(host.replace(/%.*$/, ''));
}

/**
 * 4 or 6 for an IP address in canonical text, null for anything else, a host name for example. An octet with a leading
 * zero is read differently by different systems, and a zone belongs to one machine: neither is an address.
 */
export function addressFamily(address: string): 4 | 6 | null {
  const version = address.includes('%') ? 0 : isIP(address);
  return version === 4 || version === 6 ? version : null;
}

/** The shortest form of an IPv6 address, in hexadecimal groups alone. */
function shortIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** The IPv4 address in the last two groups; one that is left out counts as 0. */
function wrappedIpv4(address: string): string {
  const groups = shortIpv6(address).split(':').slice(-2);
  const [high, low] = groups.map((group) => Number.parseInt(group, 16)) as [number, number];
  return [high >>> 8, high & 0xff, low >>> 8, low & 0xff].join('.');
}

/**
 * The host behind a URL, whatever port, path or key it names. Only on loopback do ports distinguish endpoints, because
 * what listens there may be a tunnel to anywhere.
 */
export function hostIdentity(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const name = hostname.replace(/\.+$/, '');
  const address = addressIdentity(name.replace(/^\[|\]$/g, ''));
  // A listener on all addresses answers at each of them, and nodes of one machine differ by their ports.
  const isOwn = address === null ? ownName.test(name) : ownAddress.test(address);
  if (isOwn) return `localhost:${port || (protocol === 'https:' ? 443 : 80)}`;
  return address ?? name;
}

const ownName = /(?:^|\.)localhost$|^ip6-(?:localhost|loopback)$/;

/** 127.0.0.0/8, ::1, and 0.0.0.0 and ::, which connect to this machine; see `addressIdentity`. */
const ownAddress = /^(?:127\.[0-9.]+|0\.0\.0\.0|::1?)$/;

const loopback = /^(?:localhost|::1|\[::1\]|(?:::ffff:)?127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/i;

/** Whether a host name or address, also in a URL's brackets, is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return loopback.test(host);
}

/** Whether no intermediary can read or change what goes to this address: https, or http on this machine. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
