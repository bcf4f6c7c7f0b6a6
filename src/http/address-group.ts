import { isIP, isIPv4 } from 'node:net';

/**
 * What counts as one caller: an IPv4 address, or an IPv6 network of 64 bits (a household or a rented server has a
 * whole one, so counting single addresses would count nothing). Proxies may hand on an address with a port.
 */
export function addressGroupOf(ip: string): string {
  const address = withoutPort(ip);
  if (isIPv4(address)) return address;
  if (isIP(address) === 0) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? `${firstGroups(address).join(':')}::/64`;
}

function withoutPort(ip: string): string {
  const match = /^\[([^\]]+)\](?::\d+)?$/.exec(ip) ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(ip);
  return match?.[1] ?? ip;
}

/** The first four groups of an IPv6 address, without leading zeros. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // An embedded IPv4 address at the end stands for two groups.
  const missing = 8 - before.length - after.length - (address.includes('.') ? 1 : 0);
  const groups = tail === undefined ? before : [...before, ...Array<string>(missing).fill('0'), ...after];
  return groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
}
