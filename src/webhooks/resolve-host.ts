import { Resolver } from 'node:dns/promises';
import { type Lookup, lookUpAddresses, type ResolvedAddress } from './look-up-addresses.ts';

/** The addresses of a host (at least one, IPv4 first), or a short code that says why there are none. */
export type HostResolution = { readonly addresses: readonly ResolvedAddress[] } | { readonly failed: string };

export interface HostResolverSettings {
  /** `address:port` of the DNS servers; the system's own when absent. */
  readonly servers?: readonly string[];
  /** For one whole lookup. */
  readonly timeoutMs: number;
  /** The longest an answer is kept; its own time to live may be shorter. */
  readonly cacheTtlMs: number;
  readonly cacheMaxEntries: number;
}

export interface HostResolver {
  /** The addresses of a host, at once when they are in the cache: for the check at creation only. Never rejects. */
  resolve(hostname: string): HostResolution | Promise<HostResolution>;
  /** Exactly one lookup made now, neither taken from the cache nor put there: for a delivery. Never rejects. */
  resolveFresh(hostname: string, timeoutMs: number): Promise<HostResolution>;
  /** Ends what is under way, and answers `closed` from now on. */
  close(): void;
}

/** Failures are remembered shortly: long enough that a silent DNS server cannot slow every create down. */
const NEGATIVE_TTL_MS = 5_000;
/** A lost packet must not cost an answer, so a question is repeated inside the one lookup. */
const TRIES = 3;

interface CacheEntry {
  readonly resolution: HostResolution;
  readonly expiresAtMs: number;
}

/** Makes the resolver of callback hosts. Its cache and the lookups under way for it are bounded by `cacheMaxEntries`. */
export function createHostResolver(settings: HostResolverSettings): HostResolver {
  const cache = new Map<string, CacheEntry>();
  const underWay = new Map<string, Promise<HostResolution>>();
  const resolvers = new Set<Resolver>();
  let closed = false;

  async function lookUp(hostname: string, timeoutMs: number): Promise<Lookup> {
    // One resolver a lookup: it can be canceled alone, and it reads a changed resolv.conf.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (settings.servers !== undefined) resolver.setServers(settings.servers);
    resolvers.add(resolver);
    try {
      return await lookUpAddresses(resolver, hostname, timeoutMs);
    } finally {
      resolvers.delete(resolver);
      resolver.cancel();
    }
  }

  async function lookUpForCache(hostname: string): Promise<HostResolution> {
    try {
      const found = await lookUp(hostname, settings.timeoutMs);
      const resolution = 'failed' in found ? found : { addresses: found.addresses };
      const ttlMs = 'failed' in found ? NEGATIVE_TTL_MS : found.ttlSeconds * 1000;
      remember(hostname, resolution, Math.min(ttlMs, settings.cacheTtlMs));
      return resolution;
    } finally {
      underWay.delete(hostname);
    }
  }

  function remember(hostname: string, resolution: HostResolution, ttlMs: number): void {
    if (ttlMs <= 0) return;
    // Insertion order is the order of age: the oldest entry makes room.
    cache.delete(hostname);
    const oldest = cache.size >= settings.cacheMaxEntries ? cache.keys().next() : undefined;
    if (oldest?.done === false) cache.delete(oldest.value);
    cache.set(hostname, { resolution, expiresAtMs: performance.now() + ttlMs });
  }

  return {
    resolve(hostname) {
      const cached = cache.get(hostname);
      if (cached !== undefined && cached.expiresAtMs > performance.now()) return cached.resolution;
      if (closed) return { failed: 'closed' };
      const asked = underWay.get(hostname);
      if (asked !== undefined) return asked;
      if (underWay.size >= settings.cacheMaxEntries) return { failed: 'busy' };
      const started = lookUpForCache(hostname);
      underWay.set(hostname, started);
      return started;
    },
    async resolveFresh(hostname, timeoutMs) {
      if (closed) return { failed: 'closed' };
      const found = await lookUp(hostname, timeoutMs);
      return 'failed' in found ? found : { addresses: found.addresses };
    },
    close() {
      closed = true;
      for (const resolver of resolvers) resolver.cancel();
    },
  };
}
