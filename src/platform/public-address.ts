/**
 * Which IP addresses belong to the public Internet, so that a merchant's callback may lead there.
 *
 * Source: the IANA special-purpose address registries (RFC 6890 and its updates), read strictly: what a registry
 * does not call globally reachable is refused, and so is what only the present allocation makes unreachable.
 */

/**
 * One address as a number. IPv4 has a plain one: two thirds of what judging a callback's address cost at each create
 * went into bigints.
 */
type ParsedAddress = Ipv4Address | { readonly family: 6; readonly value: bigint };

interface Ipv4Address {
  readonly family: 4;
  /** 32 bits, unsigned. */
  readonly value: number;
}

interface Ipv4Range {
  readonly value: number;
  /** Number of low bits that are free inside the range; fewer than 32. */
  readonly freeBits: number;
}

interface Ipv6Range {
  readonly value: bigint;
  readonly freeBits: bigint;
}

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

/** RFC 6052: the prefix with which a DNS64 resolver wraps an IPv4 address for hosts that only have IPv6. */
const NAT64 = ['64:ff9b::', 96] as const;
/** RFC 4291: how an IPv4 peer is spelled on an IPv6 socket. */
const MAPPED_IPV4 = ['::ffff:0:0', 96] as const;

const refusedIpv4 = REFUSED_IPV4.map(([address, bits]) => ipv4Range(address, bits));
const refusedIpv6 = REFUSED_IPV6.map(([address, bits]) => ipv6Range(address, bits));
const globalUnicastIpv6 = ipv6Range(...GLOBAL_UNICAST_IPV6);
const nat64 = ipv6Range(...NAT64);
const mappedIpv4 = ipv6Range(...MAPPED_IPV4);

/**
 * Whether a written address (an IP literal in a URL) is public. A NAT64 literal is not: no
 * merchant has reason to write one, whatever it wraps.
 *
 * @param address canonical text, IPv6 without brackets; anything that is no address is not public
 */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  return parsed !== null && isPublic(parsed);
}

/**
 * Whether an address from a DNS answer is public. A NAT64 address counts as the IPv4 address it wraps: in a
 * network that only has IPv6, DNS64 gives such an answer for every IPv4-only merchant.
 *
 * @param address canonical text; anything that is no address is not public
 */
export function isPublicResolvedAddress(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed === null) return false;
  return isPublic(parsed.family === 6 && isInside(parsed.value, nat64) ? wrappedIpv4(parsed.value) : parsed);
}

/**
 * One spelling for each host an address leads to: two addresses with the same identity reach the same interface.
 * IPv4 addresses that are wrapped for NAT64 or mapped into IPv6 have the identity of the IPv4 address.
 *
 * @returns null for text that is no address
 */
export function addressIdentity(address: string): string | null {
  const parsed = parseAddress(address);
  if (parsed === null) return null;
  const wraps = parsed.family === 6 && (isInside(parsed.value, nat64) || isInside(parsed.value, mappedIpv4));
  const plain = wraps ? wrappedIpv4(parsed.value) : parsed;
  return `${plain.family}:${plain.value.toString(16)}`;
}

/** 4 or 6 for an IP address in canonical text, null for anything else, a host name for example. */
export function addressFamily(address: string): 4 | 6 | null {
  return parseAddress(address)?.family ?? null;
}

function isPublic(address: ParsedAddress): boolean {
  if (address.family === 4) return !refusedIpv4.some((range) => isInsideIpv4(address.value, range));
  return (
    isInside(address.value, globalUnicastIpv6) && !refusedIpv6.some((range) => isInside(address.value, range))
  );
}

function isInsideIpv4(value: number, range: Ipv4Range): boolean {
  return value >>> range.freeBits === range.value >>> range.freeBits;
}

function isInside(value: bigint, range: Ipv6Range): boolean {
  return value >> range.freeBits === range.value >> range.freeBits;
}

function wrappedIpv4(value: bigint): Ipv4Address {
  return { family: 4, value: Number(value & 0xffff_ffffn) };
}

function ipv4Range(address: string, prefixBits: number): Ipv4Range {
  const value = parseIpv4(address);
  if (value === null) throw new Error(`${address} in the range table is no IPv4 address`);
  return { value, freeBits: 32 - prefixBits };
}

function ipv6Range(address: string, prefixBits: number): Ipv6Range {
  const value = parseIpv6(address);
  if (value === null) throw new Error(`${address} in the range table is no IPv6 address`);
  return { value, freeBits: BigInt(128 - prefixBits) };
}

function parseAddress(address: string): ParsedAddress | null {
  if (address.includes(':')) {
    const value = parseIpv6(address);
    return value === null ? null : { family: 6, value };
  }
  const value = parseIpv4(address);
  return value === null ? null : { family: 4, value };
}

/** Four decimal octets without leading zeros: other spellings are read differently by different systems. */
function parseIpv4(text: string): number | null {
  const octets = text.split('.');
  if (octets.length !== 4) return null;
  let value = 0;
  for (const octet of octets) {
    if (!/^(0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255) return null;
    value = value * 256 + Number(octet);
  }
  return value;
}

function parseIpv6(text: string): bigint | null {
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', true) : [];
  if (head === null || tail === null) return null;
  const missing = 8 - head.length - tail.length;
  // "::" stands for at least one group, and without it all eight are written out.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...head, ...Array<number>(missing).fill(0), ...tail];
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}

/** The 16-bit groups between colons; an IPv4 address at the very end of the text makes two groups. */
function parseGroups(text: string, endsText: boolean): number[] | null {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [index, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const dotted = endsText && index === parts.length - 1 ? parseIpv4(part) : null;
    if (dotted === null) return null;
    groups.push(dotted >>> 16, dotted & 0xffff);
  }
  return groups;
}

const loopback = /^(?:localhost|::1|\[::1\]|(?:::ffff:)?127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3})$/i;

/** Whether a host name or address, also in a URL's brackets, is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return loopback.test(host);
}

/** Whether no intermediary can read or change what goes to this address: https, or http on this machine. */
export function isSecureUrl({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
