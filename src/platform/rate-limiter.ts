/** Counts requests by a key in fixed windows that start with the first request, per instance or across instances. */
export interface RateLimiter {
  /** 0 if one more request may pass; otherwise the whole seconds, at least 1, until the window ends. */
  take(key: string): Promise<number>;
}
