/** Counter of requests per key, in one instance or across all. A fixed window starts with the first request. */
export interface RateLimiter {
  /** Counts a request. Returns 0 if it may pass, otherwise the whole seconds until the window ends, at least 1. */
  take(key: string): Promise<number>;
}
