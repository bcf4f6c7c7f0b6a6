import { isIPv4 } from 'node:net';
import { ServiceError } from '../payment/errors.ts';
import { isLoopbackHost, peerAddress } from '../platform/public-address.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';

export const MINUTE_MS = 60_000;
/** Maximum keys of one limiter; each takes 160 bytes. The oldest window is dropped first. */
const MAXIMUM_WINDOWS = 20_000;
const MAXIMUM_LONG_WINDOWS = 50_000;

interface Window {
  endsAtMs: number;
  requests: number;
}

/**
 * Fixed windows in memory, each starting with its key's first request. An insertion removes up to two that have expired
 * or exceed the maximum, so no timer is needed. `monotonicMs` never goes backwards.
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

  /** Seconds until a full window ends; 0 if it has room. */
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

  /** Same as `take`, without a promise. Refused requests are not counted, because they would take room from others. */
  function takeNow(key: string, wider: readonly WiderNetwork[] = []): number {
    for (const { network, factor } of [{ network: key, factor: 1 }, ...wider]) {
      const seconds = waitSeconds(network, limit * factor);
      if (seconds > 0) return seconds;
    }
    count(key);
    for (const { network } of wider) count(network);
    return 0;
  }

  /** Takes a successful attempt out of the count, for limits that count only failures. */
  function giveBack(key: string): void {
    const window = windows.get(key);
    if (window !== undefined && window.requests > 0) window.requests--;
  }

  const take = async (key: string, wider?: readonly WiderNetwork[]) => takeNow(key, wider);
  return { takeNow, take, giveBack };
}

export type LocalRateLimiter = ReturnType<typeof createFixedWindowLimiter>;

/** Creates the limiters of a table with the limit and the window of each. */
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

/** Counts a request; throws `rate_limited` beyond the limit. */
export async function enforceRateLimit(limiter: RateLimiter, key: string): Promise<void> {
  const waitSeconds = await limiter.take(key);
  if (waitSeconds === 0) return;
  throw new ServiceError('rate_limited', `Too many requests. Retry after ${waitSeconds} s.`, {
    retryAfterSeconds: waitSeconds,
  });
}

/** Counts a request by the client's IP address and the networks around it; throws `rate_limited`. */
export async function enforceRateLimitFrom(
  limiter: Pick<LocalRateLimiter, 'take'>,
  ip: string,
  subject = '',
): Promise<void> {
  const { group, wider } = networksOf(ip);
  const around = wider.map(({ network, factor }) => ({ network: `${network}${subject}`, factor }));
  await enforceRateLimit({ take: (key) => limiter.take(key, around) }, `${group}${subject}`);
}

/** Caller's identity for limits: an IPv4 address, or an IPv6 /64, which is what a household or rented server gets. */
export function addressGroupOf(ip: string): string {
  return networksOf(ip).group;
}

/** The widest counted network: an IPv4 address, or an IPv6 /48. */
export function widestNetworkOf(ip: string): string {
  const { group, wider } = networksOf(ip);
  return wider.at(-1)?.network ?? group;
}

/** A wider network around a caller's; `factor` multiplies the limit. */
interface WiderNetwork {
  readonly network: string;
  readonly factor: number;
}

/** A caller's network and the wider ones that one customer may have. A /48 may also be a whole town's. */
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

/** First four groups of an IPv6 address in its shortest form. */
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
  /** Public pages. Far above what customers need, because an office or mobile network shares one IP address. */
  pages: [120, MINUTE_MS],
  /** An open page polls every three to twenty seconds, so this is enough for thirty customers behind one IP address. */
  polls: [600, MINUTE_MS],
  /** Clicks on a provider and requests with `auto=1`: each may cost a call to the chain and to a provider. */
  starts: [20, MINUTE_MS],
  /** Wrong email addresses in links to one payment, by network. */
  emailGuesses: [10, 60 * MINUTE_MS],
  /** Email addresses entered for a mail about a payment: by visitor, by payment, and per email address in a day. */
  mailVisitors: [20, 60 * MINUTE_MS],
  mailPayments: [5, 60 * MINUTE_MS],
  mailRecipients: [10, 24 * 60 * MINUTE_MS],
});

export type PageLimits = ReturnType<typeof createPageLimits>;

/**
 * Counts a request by its networks and `subject`; throws `rate_limited`. Loopback is not limited: it may be a proxy
 * that TRUST_PROXY does not name, behind which one visitor could lock out all customers.
 */
export async function limitByAddress(
  limiter: Pick<LocalRateLimiter, 'take'>,
  { ip }: { readonly ip: string },
  subject = '',
): Promise<void> {
  if (!isLoopbackHost(ip)) await enforceRateLimitFrom(limiter, ip, subject);
}
