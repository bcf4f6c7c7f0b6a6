import { ServiceError } from '../domain/errors.ts';
import type { RateLimiter } from '../domain/ports/rate-limiter.ts';

const MINUTE_MS = 60_000;
/** More keys than this are not remembered at a time: the oldest window is forgotten first. */
const MAXIMUM_WINDOWS = 100_000;

interface Window {
  endsAtMs: number;
  requests: number;
}

/** A limiter that knows at once. */
interface MemoryRateLimiter extends RateLimiter {
  take(key: string): number;
}

/**
 * Fixed windows in memory, each beginning with its key's first request. A `Map` keeps its entries in the order of
 * their insertion, so with windows of one length the oldest are always in front: two of them are cleared away
 * whenever one is added, which keeps the memory bounded without a timer.
 *
 * @param monotonicMs a clock that never goes back
 */
export function createFixedWindowLimiter(
  limit: number,
  monotonicMs: () => number,
  maximumWindows = MAXIMUM_WINDOWS,
  windowMs = MINUTE_MS,
): MemoryRateLimiter {
  const windows = new Map<string, Window>();

  function clearOldest(nowMs: number): void {
    let cleared = 0;
    for (const [key, window] of windows) {
      if (window.endsAtMs > nowMs && windows.size < maximumWindows) return;
      windows.delete(key);
      if (++cleared === 2) return;
    }
  }

  return {
    take(key) {
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
    },
  };
}

/** Counts a request against a limiter; throws `rate_limited`, at once or later, when it may not pass. */
export function requirePassing(limiter: RateLimiter, key: string): undefined | Promise<undefined> {
  const waitSeconds = limiter.take(key);
  return waitSeconds instanceof Promise ? waitSeconds.then(requireNoWait) : requireNoWait(waitSeconds);
}

function requireNoWait(waitSeconds: number): undefined {
  if (waitSeconds === 0) return undefined;
  throw new ServiceError('rate_limited', `Too many requests. Please retry after ${waitSeconds} s.`, {
    retryAfterSeconds: waitSeconds,
  });
}
