import { LRUCache } from 'lru-cache';

interface Entry<T> {
  readonly promise: Promise<T>;
  /** Infinite while the fetch is in flight. */
  expiresAtMs: number;
}

export interface TtlCacheOptions {
  readonly monotonicMs: () => number;
  /** Lifetime of a fetched value. With 0, no value is cached, but concurrent callers still share a fetch. */
  readonly keepMs: number;
  /** Maximum entries. A further entry evicts the least recently used one. */
  readonly maximumEntries: number;
}

/**
 * Caches values for a short time. Concurrent callers share a fetch and its error, but errors are not cached.
 *
 * Does not use the TTL of `lru-cache`, with which entries stored at time 0 never expire and a TTL of 0 means no expiry.
 */
export function createTtlCache<T>({ monotonicMs, keepMs, maximumEntries }: TtlCacheOptions) {
  const entries = new LRUCache<string, Entry<T>>({ max: maximumEntries });
  const isFresh = ({ expiresAtMs }: Entry<T>) => monotonicMs() < expiresAtMs;

  function fetchOrReuse(key: string, fetchValue: () => Promise<T>): Promise<T> {
    const known = entries.get(key);
    if (known !== undefined && isFresh(known)) return known.promise;
    const entry: Entry<T> = { promise: fetchValue(), expiresAtMs: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    entry.promise.then(
      () => {
        entry.expiresAtMs = monotonicMs() + keepMs;
      },
      () => {
        if (entries.peek(key) === entry) entries.delete(key);
      },
    );
    return entry.promise;
  }

  return { fetchOrReuse };
}
