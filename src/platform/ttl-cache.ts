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
  /** How long an expired value is kept for `peekExpired`. Default 0. */
  readonly keepExpiredMs?: number;
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
  const { keepExpiredMs = 0 } = options;
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

  /** The last fetched value while it is kept; else null. It outlives an attempt to replace it that fails. */
  function peekExpired(key: string): T | null {
    const last = entries.peek(key)?.last ?? null;
    return last !== null && isKept(last) ? last.value : null;
  }

  function isKept({ expiresAtMs }: Fetched<T>): boolean {
    return options.monotonicMs() < expiresAtMs + keepExpiredMs;
  }

  /** Drops the least recently used entries that are no longer kept, so that the cache is not always at its maximum. */
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
