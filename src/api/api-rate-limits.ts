import type { RateLimiter } from '../platform/rate-limiter.ts';
import { createFixedWindowLimiter } from '../web/rate-windows.ts';

/** One limiter for each row of the specification's table, and one for the merchant API. */
export interface ApiRateLimiters {
  /** Create requests, by API key. POST and GET share the limit. */
  readonly create: RateLimiter;
  readonly status: RateLimiter;
  /** Requests to the merchant API except create requests, by API key. */
  readonly merchant: RateLimiter;
  /** Requests without a valid key, by IP address. */
  readonly unauthenticated: RateLimiter;
}

type RequestsPerMinute = Readonly<
  Record<'createPerMinute' | 'statusPerMinute' | 'unauthenticatedPerMinute', number>
>;

/** Creates the API's limiters, by default in memory for one process. `src/config/config.ts` has the default limits. */
export function createApiRateLimiters(
  limits: RequestsPerMinute,
  monotonicMs: () => number,
  create = (_kind: string, perMinute: number): RateLimiter =>
    createFixedWindowLimiter(perMinute, monotonicMs),
): ApiRateLimiters {
  return {
    create: create('create', limits.createPerMinute),
    status: create('status', limits.statusPerMinute),
    merchant: create('merchant', limits.statusPerMinute),
    unauthenticated: create('unauthenticated', limits.unauthenticatedPerMinute),
  };
}
