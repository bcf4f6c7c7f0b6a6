/** Rate limiter per key, in one instance or across all. A fixed window starts with a key's first request. */
export interface RateLimiter {
  /** Counts a request. Returns 0 if it is allowed; otherwise the seconds until the window ends, an integer from 1. */
  take(key: string): Promise<number>;
}
