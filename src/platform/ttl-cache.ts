import { LRUCache } from 'lru-cache';

interface Fetched<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/** A value that is being fetched or was fetched not long ago. */
interface Entry<T> {
  readonly promise: Promise<T>;
  /** The fetched value; while it is being fetched, the expired one that it replaces. */
  last: Fetched<T> | null;
  isFetching: boolean;
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
 * then dropped, so that the next caller fetches again.
 *
 * The lifetimes of `lru-cache` are not used: there an entry of time 0 never ends, and 0 ms means for ever.
 */
export function createTtlCache<T>(options: TtlCacheOptions) {
  const entries = new LRUCache<string, Entry<T>>({ max: options.maximumEntries });

  function findFresh(key: string): Entry<T> | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    const isFresh =
      entry.isFetching || (entry.last !== null && options.monotonicMs() < entry.last.expiresAtMs);
    return isFresh ? entry : null;
  }

  /** The fetched value while it is fresh; else null. */
  function peek(key: string): T | null {
    const entry = findFresh(key);
    return entry === null || entry.isFetching ? null : (entry.last?.value ?? null);
  }

  /** The promise of a value that is fresh or being fetched; else null. */
  function findFetch(key: string): Promise<T> | null {
    return findFresh(key)?.promise ?? null;
  }

  /** The last fetched value if it expired at most so long ago; else null. It outlives an attempt to replace it that fails. */
  function peekExpired(key: string, maximumExpiredMs: number): T | null {
    const last = entries.peek(key)?.last ?? null;
    return last !== null && options.monotonicMs() < last.expiresAtMs + maximumExpiredMs ? last.value : null;
  }

  function fetchOrReuse(key: string, fetchValue: () => Promise<T>): Promise<T> {
    const known = findFetch(key);
    if (known !== null) return known;

    const previous = entries.peek(key);
    const promise = fetchValue();
    const entry: Entry<T> = { promise, last: previous?.last ?? null, isFetching: true };
    entries.set(key, entry);
    promise.then(
      (value) => {
        entry.isFetching = false;
        entry.last = { value, expiresAtMs: options.monotonicMs() + options.keepMs };
      },
      () => {
        if (entries.peek(key) !== entry) return;
        if (previous === undefined) entries.delete(key);
        else entries.set(key, previous);
      },
    );
    return promise;
  }

  return { fetchOrReuse, findFetch, peek, peekExpired };
}
