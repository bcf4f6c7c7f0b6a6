import { createFixedWindowLimiter } from '../rate-limit.ts';
import type { ApiRateLimiters } from './api-context.ts';

/** How many requests a minute pass, by kind. */
export interface RequestsPerMinute {
  readonly createPerMinute: number;
  readonly statusPerMinute: number;
  readonly unauthenticatedPerMinute: number;
}

/** The API's limiters in memory, for one process that serves alone. */
export function createMemoryRateLimiters(
  limits: RequestsPerMinute,
  monotonicMs: () => number,
): ApiRateLimiters {
  return {
    create: createFixedWindowLimiter(limits.createPerMinute, monotonicMs),
    status: createFixedWindowLimiter(limits.statusPerMinute, monotonicMs),
    unauthenticated: createFixedWindowLimiter(limits.unauthenticatedPerMinute, monotonicMs),
  };
}
