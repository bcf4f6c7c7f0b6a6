/**
 * Counts requests by a key (an API key's hash, an address) in fixed windows that begin with the first request.
 * In memory one instance counts for itself; a store can count for several.
 */
export interface RateLimiter {
  /**
   * Counts one request. 0 when it may pass; else the whole seconds, at least 1, until the window ends. A request
   * that may not pass is not counted.
   */
  take(key: string): Promise<number>;
}
