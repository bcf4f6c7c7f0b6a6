import { LRUCache } from 'lru-cache';

interface Entry<T> {
  readonly promise: Promise<T>;
  /** Infinite while it is being fetched. */
  expiresAtMs: number;
}

export interface TtlCacheOptions {
  readonly monotonicMs: () => number;
  /** Lifetime of a fetched value; 0 keeps none, but concurrent callers still share one fetch. */
  readonly keepMs: number;
  /** Maximum entries; a new one evicts the least recently used. */
  readonly maximumEntries: number;
}

/**
 * Caches values for a short time and lets concurrent callers share one fetch, or its failure, which is then dropped.
 *
 * Does not use the lifetimes of `lru-cache`, where an entry of time 0 never expires and 0 ms means forever.
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
