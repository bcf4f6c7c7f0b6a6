import { LRUCache } from 'lru-cache';

interface Fetched<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/** A value that is being fetched or was fetched recently. */
interface Entry<T> {
  readonly promise: Promise<T>;
  /** The fetched value; during a fetch, the expired one that it replaces. */
  last: Fetched<T> | null;
  isFetching: boolean;
}

export interface TtlCacheOptions {
  readonly monotonicMs: () => number;
  /** Lifetime of a fetched value; 0 keeps none, but concurrent callers still share one fetch. */
  readonly keepMs: number;
  /** Time for which `peekExpired` returns an expired value. Default 0. */
  readonly keepExpiredMs?: number;
  /** Maximum entries; a new one evicts the least recently used. */
  readonly maximumEntries: number;
}

/**
 * Caches values for a short time and lets concurrent callers share one fetch. Waiting callers share a failure, which is
 * then dropped, so that the next caller fetches again.
 *
 * Does not use the lifetimes of `lru-cache`, where an entry of time 0 never expires and 0 ms means forever.
 */
export function createTtlCache<T>(options: TtlCacheOptions) {
  const { keepExpiredMs = 0 } = options;
  const entries = new LRUCache<string, Entry<T>>({ max: options.maximumEntries });

  function findFresh(key: string): Entry<T> | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    const isFresh =
      entry.isFetching || (entry.last !== null && options.monotonicMs() < entry.last.expiresAtMs);
    return isFresh ? entry : null;
  }

  /** The fetched value while it is fresh; otherwise null. */
  function peek(key: string): T | null {
    const entry = findFresh(key);
    return entry === null || entry.isFetching ? null : (entry.last?.value ?? null);
  }

  /** Promise of a value that is fresh or being fetched; otherwise null. */
  function findFetch(key: string): Promise<T> | null {
    return findFresh(key)?.promise ?? null;
  }

  /** The last fetched value while it is kept; otherwise null. It outlives a failed attempt to replace it. */
  function peekExpired(key: string): T | null {
    const last = entries.peek(key)?.last ?? null;
    return last !== null && isKept(last) ? last.value : null;
  }

  function isKept({ expiresAtMs }: Fetched<T>): boolean {
    return options.monotonicMs() < expiresAtMs + keepExpiredMs;
  }

  /** Drops expired entries, least recently used first, so that the cache is not always at its maximum. */
  function dropExpired(): void {
    for (;;) {
      const oldest = entries.rvalues().next().value;
      if (oldest === undefined || oldest.isFetching || oldest.last === null || isKept(oldest.last)) return;
      entries.pop();
    }
  }

  function fetchOrReuse(key: string, fetchValue: () => Promise<T>): Promise<T> {
    const known = findFetch(key);
    if (known !== null) return known;

    const previous = entries.peek(key);
    dropExpired();
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
