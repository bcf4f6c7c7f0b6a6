import { LRUCache } from 'lru-cache';

interface Fetched<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/** A value that is being fetched or was fetched not long ago. */
interface Entry<T> {
  /** A promise while it is being fetched. */
  value: T | Promise<T>;
  /** The expired value that is being replaced. */
  readonly previous: Fetched<T> | null;
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

  /** The value if it is fresh, or a promise of it if it is being fetched; else null. */
  function peek(key: string): T | Promise<T> | null {
    const known = entries.get(key);
    return known !== undefined && options.monotonicMs() < known.expiresAtMs ? known.value : null;
  }

  /** The last fetched value if it expired at most so long ago; else null. It outlives an attempt to replace it that fails. */
  function peekExpired(key: string, maximumExpiredMs: number): T | null {
    const known = fetchedOf(entries.peek(key));
    return known !== null && options.monotonicMs() < known.expiresAtMs + maximumExpiredMs
      ? known.value
      : null;
  }

  function fetchOrReuse(key: string, fetchValue: () => Promise<T>): T | Promise<T> {
    const known = entries.get(key);
    if (known !== undefined && options.monotonicMs() < known.expiresAtMs) return known.value;

    const fetched = fetchValue();
    const previous = fetchedOf(known);
    const entry: Entry<T> = { value: fetched, previous, expiresAtMs: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    fetched.then(
      (value) => {
        entry.value = value;
        entry.expiresAtMs = options.monotonicMs() + options.keepMs;
      },
      () => {
        if (entries.peek(key) !== entry) return;
        if (previous === null) entries.delete(key);
        else entries.set(key, { ...previous, previous: null });
      },
    );
    return fetched;
  }

  return Object.assign(fetchOrReuse, { peek, peekExpired });
}

function fetchedOf<T>(entry: Entry<T> | undefined): Fetched<T> | null {
  if (entry === undefined) return null;
  const { value, expiresAtMs, previous } = entry;
  return value instanceof Promise ? previous : { value, expiresAtMs };
}
