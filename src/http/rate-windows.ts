import { isIP, isIPv4 } from 'node:net';
import { ServiceError } from '../domain/errors.ts';
import type { RateLimiter } from '../domain/ports/rate-limiter.ts';

export const MINUTE_MS = 60_000;
/**
 * Maximum number of remembered keys of one limiter; the oldest window is forgotten first. A window takes 160 bytes, and
 * strangers can fill a dozen limiters.
 */
const MAXIMUM_WINDOWS = 20_000;
/** The same for windows longer than a minute. */
const MAXIMUM_LONG_WINDOWS = 50_000;

interface Window {
  endsAtMs: number;
  requests: number;
}

/**
 * Fixed windows in memory, each beginning with its key's first request. A `Map` keeps its entries in insertion order,
 * so with windows of one length the oldest are always in front. Each insertion removes up to two expired windows, which
 * bounds the memory without a timer. Not `lru-cache`: it allocates all places of each limiter at the start.
 *
 * @param monotonicMs a clock that never goes back
 */
export function createFixedWindowLimiter(
  limit: number,
  monotonicMs: () => number,
  maximumWindows = MAXIMUM_WINDOWS,
  windowMs = MINUTE_MS,
) {
  const windows = new Map<string, Window>();

  function clearOldest(nowMs: number): void {
    let cleared = 0;
    for (const [key, window] of windows) {
      if (window.endsAtMs > nowMs && windows.size < maximumWindows) return;
      windows.delete(key);
      if (++cleared === 2) return;
    }
  }

  /** The same as `take`, without a promise. */
  function takeNow(key: string): number {
    const nowMs = monotonicMs();
    const window = windows.get(key);
    if (window !== undefined && window.endsAtMs > nowMs) {
      if (window.requests >= limit) return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
      window.requests++;
      return 0;
    }
    if (window !== undefined) windows.delete(key);
    clearOldest(nowMs);
    windows.set(key, { endsAtMs: nowMs + windowMs, requests: 1 });
    return 0;
  }

  /** Takes back a request that turned out to be right, where the limit is for wrong ones. */
  function giveBack(key: string): void {
    const window = windows.get(key);
    if (window !== undefined && window.requests > 0) window.requests--;
  }

  return { takeNow, take: async (key: string) => takeNow(key), giveBack };
}

/** A limiter for each kind of request, by its limit and window. In memory: each process counts for itself. */
export function createLimiters<Kind extends string>(
  limits: Readonly<Record<Kind, readonly [limit: number, windowMs: number]>>,
  monotonicMs: () => number,
): Readonly<Record<Kind, RateLimiter & Pick<ReturnType<typeof createFixedWindowLimiter>, 'giveBack'>>> {
  const limiters = Object.entries<readonly [number, number]>(limits).map(([kind, [limit, windowMs]]) => [
    kind,
    createFixedWindowLimiter(
      limit,
      monotonicMs,
      windowMs > MINUTE_MS ? MAXIMUM_LONG_WINDOWS : MAXIMUM_WINDOWS,
      windowMs,
    ),
  ]);
  return Object.fromEntries(limiters);
}

/** Counts a request against a limiter; throws `rate_limited` when the limit is exceeded. */
export async function requirePassing(limiter: RateLimiter, key: string): Promise<void> {
  const waitSeconds = await limiter.take(key);
  if (waitSeconds === 0) return;
  throw new ServiceError('rate_limited', `Too many requests. Retry after ${waitSeconds} s.`, {
    retryAfterSeconds: waitSeconds,
  });
}

/**
 * The identity of a caller for limits: an IPv4 address, or an IPv6 network of 64 bits. A household or a rented server
 * has a whole such network, so counting single addresses would count nothing. Proxies may forward an address with a
 * port.
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
