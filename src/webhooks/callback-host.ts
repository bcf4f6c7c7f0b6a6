import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { LRUCache } from 'lru-cache';
import {
  isOwnCallback,
  NOT_PUBLIC,
  parseCallbackUrl,
  type ServiceLocation,
} from '../payment/callback-url.ts';
import { addressFamily, addressIdentity, isPublicResolvedAddress } from '../platform/public-address.ts';
import type { CallbackGuard } from './delivery-types.ts';

interface CallbackRules {
  /** Exempt from the rules about where a callback may lead: `host:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Public location of this service, which callbacks must not target. */
  readonly own: ServiceLocation;
}

/**
 * Validates callbacks at creation: first the text, then the addresses of the name. Without `refusalOfHost`, addresses
 * are validated only at delivery.
 */
export function createCallbackGuard(
  { allowedHosts, own }: CallbackRules,
  refusalOfHost: (hostname: string) => Promise<string | null> = async () => null,
): CallbackGuard {
  return {
    async refusalOf(callback) {
      const parsed = parseCallbackUrl(callback, allowedHosts);
      if (!parsed.ok) return parsed.reason;
      if (parsed.kind === 'allowed') return null;
      return isOwnCallback(parsed, own) ? 'must not point to this service' : refusalOfHost(parsed.hostname);
    },
  };
}

/** @param authorities certificates trusted instead of the system's, each for deliveries to one `host:port` */
export function createDeliveryRules<Rules extends object>(
  rules: Rules,
  authorities: ReadonlyMap<string, string> = new Map(),
): (url: string) => Rules & { readonly ca?: string } {
  return (url) => {
    const ca = authorities.get(URL.parse(url)?.host ?? '');
    return ca === undefined ? rules : { ...rules, ca };
  };
}

/**
 * Creates the check of a new callback's host, whose result is the rule that a resolved address breaks (the end of a
 * sentence that starts with "callback"), or null.
 *
 * A name without an answer is accepted, because a merchant's DNS may fail briefly, and the delivery resolves again and
 * fails closed. Not for hosts of the operator's list (`kind: 'allowed'`), which need not be public. The host comes from
 * `parseCallbackUrl`: a name, or an IP literal, which needs no DNS.
 */
export function createCallbackHostCheck(
  resolver: Pick<HostResolver, 'resolve'>,
  ownAddresses: OwnAddresses,
): (hostname: string) => Promise<string | null> {
  return async (hostname) => refusalOf(await resolver.resolve(hostname), ownAddresses());
}

/** One refused address is enough, because a name with a public and a private answer is a known SSRF bypass. */
function refusalOf(resolution: HostResolution, own: ReadonlySet<string>): string | null {
  if ('failed' in resolution) return null;
  for (const { address } of resolution.addresses) {
    const refusal = refuseAddress(address, own);
    if (refusal === 'not_public') return `must not resolve to ${NOT_PUBLIC}`;
    if (refusal === 'own_address') return 'must not resolve to this service';
  }
  return null;
}

/**
 * Why a webhook must not go to a resolved address; null if it may.
 *
 * @param ownAddresses identities of this machine's own addresses
 */
export function refuseAddress(
  address: string,
  ownAddresses: ReadonlySet<string>,
): 'not_public' | 'own_address' | null {
  if (!isPublicResolvedAddress(address)) return 'not_public';
  const identity = addressIdentity(address);
  return identity !== null && ownAddresses.has(identity) ? 'own_address' : null;
}

/** Current identities (`addressIdentity`) of this machine's own addresses. */
export type OwnAddresses = () => ReadonlySet<string>;

/** Interfaces rarely change, and reading them costs far more than a set look-up. */
const MAX_AGE_MS = 60_000;

/**
 * Creates the reader of this machine's own addresses. Callbacks must not target them even when public, because a
 * service there may trust local clients. Throws if they cannot be read, so that the service fails at startup rather
 * than with its first webhook.
 */
export function createOwnAddresses(interfaces = networkInterfaces): OwnAddresses {
  let known = readOwnAddresses(interfaces);
  let readAtMs = performance.now();
  return () => {
    const nowMs = performance.now();
    if (nowMs - readAtMs > MAX_AGE_MS) {
      known = readOwnAddresses(interfaces);
      readAtMs = nowMs;
    }
    return known;
  };
}

function readOwnAddresses(interfaces: typeof networkInterfaces): ReadonlySet<string> {
  const identities = new Set<string>();
  for (const { address } of Object.values(listInterfaces(interfaces)).flatMap((entries) => entries ?? [])) {
    const identity = addressIdentity(address);
    if (identity === null) throw new Error(`The system reports ${address} as an interface address`);
    identities.add(identity);
  }
  return identities;
}

function listInterfaces(interfaces: typeof networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return interfaces();
  } catch (cause) {
    const wayOut = 'allow AF_NETLINK, for example in RestrictAddressFamilies of systemd';
    throw new Error(`The addresses of this machine cannot be read: ${wayOut}`, { cause });
  }
}

/** Addresses of a host (at least one, IPv4 first), or a short code of the failure. */
export type HostResolution = { readonly addresses: readonly ResolvedAddress[] } | { readonly failed: string };

interface HostResolverSettings {
  /** `address:port` of the DNS servers; the system's own when absent. */
  readonly servers?: readonly string[];
  readonly timeoutMs: number;
  /** Maximum lifetime of an answer, whose own TTL may be shorter. */
  readonly cacheTtlMs: number;
  readonly cacheMaxEntries: number;
}

export type HostResolver = ReturnType<typeof createHostResolver>;

/** Failures are cached briefly, so that a silent DNS server cannot slow down every create request. */
const NEGATIVE_TTL_MS = 5_000;
/** Attempts within one lookup, because a packet may get lost. */
const TRIES = 3;

/** `cacheMaxEntries` also limits the pending lookups of `resolve`. */
export function createHostResolver(settings: HostResolverSettings) {
  const cache = new LRUCache<string, HostResolution>({ max: settings.cacheMaxEntries, ttlResolution: 0 });
  const underWay = new Map<string, Promise<HostResolution>>();
  const resolvers = new Set<Resolver>();
  let closed = false;

  async function lookUp(hostname: string, timeoutMs: number): Promise<Lookup> {
    // One resolver per lookup can be canceled separately, and reads a changed resolv.conf.
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
      const keptMs = Math.min(ttlMs, settings.cacheTtlMs);
      if (keptMs > 0) cache.set(hostname, resolution, { ttl: keptMs });
      return resolution;
    } finally {
      underWay.delete(hostname);
    }
  }

  return {
    /** Addresses of a host, from the cache if possible, for the check at creation only. Never rejects. */
    async resolve(hostname: string): Promise<HostResolution> {
      const cached = cache.get(hostname);
      if (cached !== undefined) return cached;
      if (closed) return { failed: 'closed' };
      const pending = underWay.get(hostname);
      if (pending !== undefined) return pending;
      if (underWay.size >= settings.cacheMaxEntries) return { failed: 'busy' };
      const started = lookUpForCache(hostname);
      underWay.set(hostname, started);
      return started;
    },
    /** Makes exactly one lookup without the cache, for a delivery. Never rejects. */
    async resolveFresh(hostname: string, timeoutMs: number): Promise<HostResolution> {
      if (closed) return { failed: 'closed' };
      const found = await lookUp(hostname, timeoutMs);
      return 'failed' in found ? found : { addresses: found.addresses };
    },
    /** Cancels pending lookups, and answers `closed` from now on. */
    close(): void {
      closed = true;
      for (const resolver of resolvers) resolver.cancel();
    },
  };
}

export interface ResolvedAddress {
  /** Canonical text, IPv6 without brackets. */
  readonly address: string;
  readonly family: 4 | 6;
}

type LookupFailure = 'not_found' | 'timeout' | 'server_failure' | 'too_many_addresses' | 'canceled';

type Lookup =
  | {
      /** At least one; IPv4 first, because hosts without IPv6 are more common than those without IPv4. */
      readonly addresses: readonly ResolvedAddress[];
      /** Shortest TTL of the answers; infinite without DNS. */
      readonly ttlSeconds: number;
    }
  | { readonly failed: LookupFailure };

/** Maximum addresses of a host; a longer answer is an attempt to fill memory. */
const MAX_ADDRESSES = 64;
/** Time for which a family with addresses waits for the other one, whose server may be silent (RFC 8305). */
const OTHER_FAMILY_GRACE_MS = 1_000;

interface FamilyAnswer {
  readonly family: 4 | 6;
  readonly records: readonly { readonly address: string; readonly ttl: number }[];
  /** The resolver's error code; null if it answered. */
  readonly errorCode: string | null;
}

/**
 * Finds the addresses of a host with one DNS lookup, A and AAAA concurrently. IP literals and `localhost` need no DNS
 * (RFC 6761), so that an operator's allowed `localhost:8443` works on every machine.
 *
 * Avoids `dns.lookup`, which occupies one of the four threads shared with file operations and password hashing.
 *
 * @param timeoutMs for both families together
 */
async function lookUpAddresses(
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'>,
  hostname: string,
  timeoutMs: number,
): Promise<Lookup> {
  const fixed = addressesWithoutDns(hostname);
  if (fixed !== null) return { addresses: fixed, ttlSeconds: Number.POSITIVE_INFINITY };

  const ipv4 = askFamily(4, resolver.resolve4(hostname, { ttl: true }));
  const ipv6 = askFamily(6, resolver.resolve6(hostname, { ttl: true }));
  const answers = await collectAnswers([ipv4, ipv6], timeoutMs);
  const records = answers
    .toSorted((a, b) => a.family - b.family)
    .flatMap(({ family, records }) => records.map(({ address, ttl }) => ({ address, family, ttl })));
  if (records.length === 0) return { failed: failureOf(answers) };
  if (records.length > MAX_ADDRESSES) return { failed: 'too_many_addresses' };
  return {
    addresses: records.map(({ address, family }) => ({ address, family })),
    ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
  };
}

function addressesWithoutDns(hostname: string): ResolvedAddress[] | null {
  const family = addressFamily(hostname);
  if (family !== null) return [{ address: hostname, family }];
  if (hostname !== 'localhost' && !hostname.endsWith('.localhost')) return null;
  return [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
}

async function askFamily(
  family: 4 | 6,
  pending: Promise<{ address: string; ttl: number }[]>,
): Promise<FamilyAnswer> {
  try {
    return { family, records: await pending, errorCode: null };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { family, records: [], errorCode: code };
  }
}

/** Collects answers until all have arrived, the time is over, or one family has waited for the other. */
async function collectAnswers(
  pending: readonly Promise<FamilyAnswer>[],
  timeoutMs: number,
): Promise<FamilyAnswer[]> {
  const answers: FamilyAnswer[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timers = [setTimeout(resolve, timeoutMs)];
  for (const family of pending) {
    void family.then((answer) => {
      answers.push(answer);
      if (answers.length === pending.length) resolve();
      else if (answer.records.length > 0) timers.push(setTimeout(resolve, OTHER_FAMILY_GRACE_MS));
    });
  }
  await enough;
  for (const timer of timers) clearTimeout(timer);
  // A copy, so that a later answer does not change what was validated.
  return [...answers];
}

function failureOf(answers: readonly FamilyAnswer[]): LookupFailure {
  const codes = answers.map(({ errorCode }) => errorCode);
  if (answers.length < 2 || codes.includes('ETIMEOUT')) return 'timeout';
  if (codes.includes('ECANCELLED')) return 'canceled';
  const nothingThere = codes.every((code) => code === null || code === 'ENOTFOUND' || code === 'ENODATA');
  return nothingThere ? 'not_found' : 'server_failure';
}
