/** A value that is being fetched or was fetched not long ago. */
interface Entry<T> {
  readonly value: Promise<T>;
  /** Infinity while it is still being fetched. */
  expiresAtMs: number;
}

export interface BriefCacheOptions {
  readonly monotonicMs: () => number;
  /** How long a fetched value may be used; 0 keeps none, but callers at the same time still share one fetch. */
  readonly keepMs: number;
  /** The oldest entry makes room for a new one beyond this. */
  readonly maximumEntries: number;
}

/**
 * Keeps values for a moment and lets concurrent callers share one fetch. A failure is shared by those who wait for
 * it and then forgotten, so that the next caller asks again.
 */
export function createBriefCache<T>(options: BriefCacheOptions) {
  const entries = new Map<string, Entry<T>>();

  return function fetchOrReuse(key: string, fetchValue: () => Promise<T>): Promise<T> {
    const known = entries.get(key);
    if (known !== undefined && options.monotonicMs() < known.expiresAtMs) return known.value;

    const entry: Entry<T> = { value: fetchValue(), expiresAtMs: Number.POSITIVE_INFINITY };
    entries.delete(key); // so that it moves to the young end of the map
    entries.set(key, entry);
    for (const oldest of entries.keys()) {
      if (entries.size <= options.maximumEntries) break;
      entries.delete(oldest);
    }
    entry.value.then(
      () => {
        entry.expiresAtMs = options.monotonicMs() + options.keepMs;
      },
      () => {
        if (entries.get(key) === entry) entries.delete(key);
      },
    );
    return entry.value;
  };
}
