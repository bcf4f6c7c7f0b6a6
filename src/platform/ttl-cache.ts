import { LRUCache } from 'lru-cache';

interface Entry<T> {
  readonly promise: Promise<T>;
  /** Infinite while the value is being fetched. */
  expiresAtMs: number;
}

export interface TtlCacheOptions {
  readonly monotonicMs: () => number;
  /** Lifetime of a fetched value. With 0, none is kept, but concurrent callers still share one fetch. */
  readonly keepMs: number;
  /** Maximum entries. A new one evicts the least recently used one. */
  readonly maximumEntries: number;
}

/**
 * Caches values for a short time. Concurrent callers share one fetch, or its error, which is not cached.
 *
 * Does not use the TTL of `lru-cache`, where an entry stored at time 0 never expires and a TTL of 0 ms means forever.
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
