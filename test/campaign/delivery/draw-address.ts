import type { Draws } from '../simulation/draws.ts';

/** An address that a name may lead to, and whether the Internet would carry a request there. */
export interface DrawnAddress {
  readonly text: string;
  readonly family: 4 | 6;
  readonly isPublic: boolean;
}

/**
 * Whose addresses are nobody's public server, written down from the IANA registries a second time and not taken from the
 * service: what it forgot would be forgotten here as well. Octets or groups; `*` is any.
 */
const PRIVATE_IPV4 = [
  '0.*.*.*',
  '10.*.*.*',
  '127.*.*.*',
  '127.0.0.1',
  '169.254.*.*',
  '169.254.169.254',
  '100.64.*.*',
  '100.100.100.200',
  '100.127.*.*',
  '172.16.*.*',
  '172.31.*.*',
  '192.168.*.*',
  '192.0.0.*',
  '192.0.2.*',
  '192.88.99.*',
  '198.18.*.*',
  '198.19.*.*',
  '198.51.100.*',
  '203.0.113.*',
  '224.*.*.*',
  '239.*.*.*',
  '240.*.*.*',
  '255.255.255.255',
  '168.63.129.16',
] as const;
const PUBLIC_IPV4 = [
  '93.184.*.*',
  '8.8.8.8',
  '1.1.1.*',
  '172.15.*.*',
  '172.32.*.*',
  '11.*.*.*',
  '126.*.*.*',
  '128.*.*.*',
  '100.63.*.*',
  '100.128.*.*',
  '169.253.*.*',
  '192.167.*.*',
  '198.17.*.*',
  '223.*.*.*',
] as const;
const PRIVATE_IPV6 = [
  '::1',
  '::',
  'fc00::*',
  'fd*::*',
  'fe80::*',
  'fec0::*',
  'ff02::*',
  '2001:db8::*',
  '2002:*::*',
  '2001:0:*::*',
  '3fff:0:*::*',
  '100::*',
  '64:ff9b:1::*',
  '4000::*',
  '5f00::*',
] as const;
const PUBLIC_IPV6 = ['2606:4700::*', '2a00:1450:*::*', '2600:*::*', '2001:4860:*::*'] as const;
interface Wrapper {
  readonly prefix: string;
  readonly leadsTo: 'nowhere' | 'the IPv4 address';
}

/** IPv6 spellings of an IPv4 address, as a DNS answer may carry them. */
const WRAPPERS: readonly [Wrapper, ...Wrapper[]] = [
  { prefix: '::ffff:', leadsTo: 'nowhere' },
  { prefix: '64:ff9b::', leadsTo: 'the IPv4 address' },
  { prefix: '::', leadsTo: 'nowhere' },
];

export function drawAddress(draws: Draws, wanted: 'public' | 'private'): DrawnAddress {
  const isPublic = wanted === 'public';
  if (draws.chance(60)) return { text: drawIpv4(draws, isPublic), family: 4, isPublic };
  if (!isPublic && draws.chance(40)) {
    const { prefix, leadsTo } = draws.oneOf(WRAPPERS);
    // A wrapper that leads nowhere makes any address private; else the wrapped one is.
    const text = `${prefix}${groupsOf(drawIpv4(draws, leadsTo === 'nowhere' && draws.chance(50)))}`;
    return { text: canonicalAddress(text), family: 6, isPublic };
  }
  const pattern = draws.oneOf(isPublic ? PUBLIC_IPV6 : PRIVATE_IPV6);
  const text = pattern.replaceAll('fd*', `fd${draws.hex(2)}`).replaceAll('*', () => `1${draws.hex(3)}`);
  return { text: canonicalAddress(text), family: 6, isPublic };
}

export function drawIpv4(draws: Draws, isPublic: boolean): string {
  const pattern = draws.oneOf(isPublic ? PUBLIC_IPV4 : PRIVATE_IPV4);
  return pattern.replaceAll('*', () => String(draws.between(1, 254)));
}

/** The one spelling of an address that comparisons are made with. */
export function canonicalAddress(text: string): string {
  if (!text.includes(':')) return text;
  return new URL(`https://[${text}]/`).hostname.slice(1, -1);
}

function groupsOf(ipv4: string): string {
  const [first = 0, second = 0, third = 0, fourth = 0] = ipv4.split('.').map(Number);
  return `${(first * 256 + second).toString(16)}:${(third * 256 + fourth).toString(16)}`;
}
