/**
 * Counts requests by a key (an API key's hash, an address) in fixed windows that start with the first request. In
 * memory each instance counts separately; a store can count for several.
 */
export interface RateLimiter {
  /**
   * Counts one request. 0 if it may pass; otherwise the whole seconds, at least 1, until the window ends. Refused
   * requests do not extend the window.
   */
  take(key: string): Promise<number>;
}
