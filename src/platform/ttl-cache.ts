import { LRUCache } from 'lru-cache';

/** A value that is being fetched or was fetched not long ago. */
interface Entry<T> {
  /** A promise while it is being fetched. */
  value: T | Promise<T>;
  /** Infinity while it is still being fetched. */
  expiresAtMs: number;
}

export interface TtlCacheOptions {
  readonly monotonicMs: () => number;
  /** Lifetime of a fetched value; 0 keeps none, but callers at the same time still share one fetch. */
  readonly keepMs: number;
  /** Maximum number of entries; a new one evicts the least recently used. */
  readonly maximumEntries: number;
}

/**
 * Caches values for a short time and lets concurrent callers share one fetch. Waiting callers share a failure, which is
 * then dropped, so that the next caller fetches again. A cached value is returned at once, not as a promise.
 *
 * The lifetimes of `lru-cache` are not used: there an entry of time 0 never ends, and 0 ms means for ever.
 */
export function createTtlCache<T>(options: TtlCacheOptions) {
  const entries = new LRUCache<string, Entry<T>>({ max: options.maximumEntries });

  return function fetchOrReuse(key: string, fetchValue: () => Promise<T>): T | Promise<T> {
    const known = entries.get(key);
    if (known !== undefined && options.monotonicMs() < known.expiresAtMs) return known.value;

    const fetched = fetchValue();
    const entry: Entry<T> = { value: fetched, expiresAtMs: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    fetched.then(
      (value) => {
        entry.value = value;
        entry.expiresAtMs = options.monotonicMs() + options.keepMs;
      },
      () => {
        if (entries.peek(key) === entry) entries.delete(key);
      },
    );
    return fetched;
  };
}
