import { isIPv4 } from 'node:net';
import { ServiceError } from '../payment/errors.ts';
import { isLoopbackHost, peerAddress } from '../platform/public-address.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';

export const MINUTE_MS = 60_000;
/** Maximum number of keys per limiter. Each takes 160 bytes, and the oldest window is dropped first. */
const MAXIMUM_WINDOWS = 20_000;
const MAXIMUM_LONG_WINDOWS = 50_000;

interface Window {
  endsAtMs: number;
  requests: number;
}

/**
 * Counts requests in memory, in fixed windows that start with a key's first request. Each insertion removes up to two
 * windows that have expired or exceed the maximum, so no timer is needed. `monotonicMs` never goes backwards.
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

  /** Returns the seconds until a full window ends; 0 if the window has room. */
  function waitSeconds(key: string, maximum: number): number {
    const window = windows.get(key);
    const nowMs = monotonicMs();
    if (window === undefined || window.endsAtMs <= nowMs || window.requests < maximum) return 0;
    return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
  }

  function count(key: string): void {
    const nowMs = monotonicMs();
    const window = windows.get(key);
    if (window !== undefined && window.endsAtMs > nowMs) {
      window.requests++;
      return;
    }
    if (window !== undefined) windows.delete(key);
    clearOldest(nowMs);
    windows.set(key, { endsAtMs: nowMs + windowMs, requests: 1 });
  }

  /** Same as `take`, without a promise. Refused requests do not count, so they cannot block other callers. */
  function takeNow(key: string, wider: readonly WiderNetwork[] = []): number {
    for (const { network, factor } of [{ network: key, factor: 1 }, ...wider]) {
      const seconds = waitSeconds(network, limit * factor);
      if (seconds > 0) return seconds;
    }
    count(key);
    for (const { network } of wider) count(network);
    return 0;
  }

  /** Removes a successful attempt from the count, for limits that count only failures. */
  function giveBack(key: string): void {
    const window = windows.get(key);
    if (window !== undefined && window.requests > 0) window.requests--;
  }

  const take = async (key: string, wider?: readonly WiderNetwork[]) => takeNow(key, wider);
  return { takeNow, take, giveBack };
}

export type LocalRateLimiter = ReturnType<typeof createFixedWindowLimiter>;

/** Returns a function that creates a limiter for each entry. */
export function limitersOf<Kind extends string>(
  limits: Readonly<Record<Kind, readonly [limit: number, windowMs: number]>>,
) {
  return (monotonicMs: () => number): Readonly<Record<Kind, LocalRateLimiter>> => {
    const limiters = Object.entries<readonly [number, number]>(limits).map(([kind, [limit, windowMs]]) => {
      const maximum = windowMs > MINUTE_MS ? MAXIMUM_LONG_WINDOWS : MAXIMUM_WINDOWS;
      return [kind, createFixedWindowLimiter(limit, monotonicMs, maximum, windowMs)];
    });
    return Object.fromEntries(limiters);
  };
}

/** Counts a request. Throws `rate_limited` beyond the limit. */
export async function enforceRateLimit(limiter: RateLimiter, key: string): Promise<void> {
  const waitSeconds = await limiter.take(key);
  if (waitSeconds === 0) return;
  throw new ServiceError('rate_limited', `Too many requests. Retry after ${waitSeconds} s.`, {
    retryAfterSeconds: waitSeconds,
  });
}

/** Counts a request by the client's IP address and wider networks. Throws `rate_limited` beyond the limit. */
export async function enforceRateLimitFrom(
  limiter: Pick<LocalRateLimiter, 'take'>,
  ip: string,
  subject = '',
): Promise<void> {
  const { group, wider } = networksOf(ip);
  const around = wider.map(({ network, factor }) => ({ network: `${network}${subject}`, factor }));
  await enforceRateLimit({ take: (key) => limiter.take(key, around) }, `${group}${subject}`);
}

/** Returns a caller's identity for limits: an IPv4 address, or the IPv6 /64 of a household or rented server. */
export function addressGroupOf(ip: string): string {
  return networksOf(ip).group;
}

/** Returns the widest counted network: an IPv4 address, or an IPv6 /48. */
export function widestNetworkOf(ip: string): string {
  const { group, wider } = networksOf(ip);
  return wider.at(-1)?.network ?? group;
}

/** Wider network around the caller's. `factor` multiplies the limit. */
interface WiderNetwork {
  readonly network: string;
  readonly factor: number;
}

/** Returns a caller's network and the wider networks that it may control. A whole town may share a /48. */
function networksOf(ip: string): { readonly group: string; readonly wider: readonly WiderNetwork[] } {
  const address = peerAddress(ip);
  if (address === null || isIPv4(address)) return { group: address ?? 'unknown', wider: [] };
  const [first, second, third, fourth = ''] = firstGroups(address);
  const site = `${first}:${second}:${third}`;
  const household = (Number.parseInt(fourth, 16) & 0xff00).toString(16);
  return {
    group: `${site}:${fourth}::/64`,
    wider: [
      { network: `${site}:${household}::/56`, factor: 4 },
      { network: `${site}::/48`, factor: 16 },
    ],
  };
}

/** Returns the first four groups of an IPv6 address in its shortest form. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = 8 - before.length - after.length;
  const groups = tail === undefined ? before : [...before, ...Array<string>(missing).fill('0'), ...after];
  return groups.slice(0, 4);
}

/** Requests per window, by IP address. */
export const createPageLimits = limitersOf({
  /** Public pages. The limit is far above customers' needs, because an office or mobile network shares an address. */
  pages: [120, MINUTE_MS],
  /** Polls of open pages, one every three to twenty seconds. Enough for thirty customers behind one IP address. */
  polls: [600, MINUTE_MS],
  /** Clicks on a provider, and requests with `auto=1`. Each may cost a call to the chain and one to a provider. */
  starts: [20, MINUTE_MS],
  /** Wrong email addresses in links to a payment, by network. */
  emailGuesses: [10, 60 * MINUTE_MS],
  /** Requests for an email about a payment: by visitor, by payment, and by email address per day. */
  mailVisitors: [20, 60 * MINUTE_MS],
  mailPayments: [5, 60 * MINUTE_MS],
  mailRecipients: [10, 24 * 60 * MINUTE_MS],
});

export type PageLimits = ReturnType<typeof createPageLimits>;

/**
 * Counts a request by its networks and `subject`. Throws `rate_limited` beyond the limit. Loopback is unlimited: it may
 * be a proxy missing from TRUST_PROXY, behind which one visitor could lock out all customers.
 */
export async function limitByAddress(
  limiter: Pick<LocalRateLimiter, 'take'>,
  { ip }: { readonly ip: string },
  subject = '',
): Promise<void> {
  if (!isLoopbackHost(ip)) await enforceRateLimitFrom(limiter, ip, subject);
}
