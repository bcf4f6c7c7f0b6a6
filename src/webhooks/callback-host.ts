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
import type { CallbackGuard } from './callback-guard.ts';

/** Rules that validate callbacks. */
interface CallbackRules {
  /** Exempt from every rule but the form: `host:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Public location of this service: a callback must not lead there. */
  readonly own: ServiceLocation;
}

/**
 * Validates callbacks at creation: first the text, then the addresses of its name. Where no resolver runs, the addresses
 * are validated only when it is used.
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

/**
 * The rules of a request to a callback.
 *
 * @param authorities certificates that are trusted besides the system's, each for deliveries to one `host:port`
 */
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
 * Makes the check of a new callback's host: null when it leads to public addresses only, as far as DNS can say in a short
 * time, else how it breaks the rules, as the end of a sentence that begins with "callback".
 *
 * A name without an answer is accepted: a merchant's DNS may fail for a minute, and the delivery resolves anew and
 * fails closed. Not for hosts of the operator's list (`kind: 'allowed'`), which need not be public.
 *
 * The host is as `parseCallbackUrl` gives it: a name, or an IP literal (which is checked without DNS).
 */
export function createCallbackHostCheck(
  resolver: Pick<HostResolver, 'resolve'>,
  ownAddresses: OwnAddresses,
): (hostname: string) => Promise<string | null> {
  /** Results of validated answers, valid while both the resolver's cache and our own addresses stay the same. */
  let validated = new WeakMap<HostResolution, string | null>();
  let validatedAgainst: ReadonlySet<string> | null = null;

  function validate(resolution: HostResolution): string | null {
    const own = ownAddresses();
    if (own !== validatedAgainst) [validated, validatedAgainst] = [new WeakMap(), own];
    const known = validated.get(resolution);
    if (known !== undefined) return known;
    const refusal = refusalOf(resolution, own);
    validated.set(resolution, refusal);
    return refusal;
  }

  return async (hostname) => validate(await resolver.resolve(hostname));
}

/** One refused address is enough: a name with a public and a private answer is how a filter is led astray. */
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
 * Why a webhook must not go to a resolved address, or null when it may.
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

/** The identities (`addressIdentity`) of the addresses this machine answers on, as they are now. */
export type OwnAddresses = () => ReadonlySet<string>;

/** Interfaces come and go, but not between two requests; asking the system costs far more than a set look-up. */
const MAX_AGE_MS = 60_000;

/**
 * Makes the function that knows this machine's own addresses. A callback must not lead to them even when they are
 * public: a service that listens there may trust clients of the same machine. Throws where they cannot be read, so that a
 * service ends at its start and not with its first webhook.
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

/** The addresses of a host (at least one, IPv4 first), or a short code that says why there are none. */
export type HostResolution = { readonly addresses: readonly ResolvedAddress[] } | { readonly failed: string };

interface HostResolverSettings {
  /** `address:port` of the DNS servers; the system's own when absent. */
  readonly servers?: readonly string[];
  /** Time limit of one whole lookup. */
  readonly timeoutMs: number;
  /** The longest an answer is kept; its own time to live may be shorter. */
  readonly cacheTtlMs: number;
  readonly cacheMaxEntries: number;
}

export type HostResolver = ReturnType<typeof createHostResolver>;

/** Failures are remembered shortly: long enough that a silent DNS server cannot slow every create down. */
const NEGATIVE_TTL_MS = 5_000;
/** A lost packet must not cost an answer, so a question is repeated inside the one lookup. */
const TRIES = 3;

/** Makes the resolver of callback hosts. Its cache and the lookups under way for it are bounded by `cacheMaxEntries`. */
export function createHostResolver(settings: HostResolverSettings) {
  const cache = new LRUCache<string, HostResolution>({ max: settings.cacheMaxEntries, ttlResolution: 0 });
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
      const keptMs = Math.min(ttlMs, settings.cacheTtlMs);
      if (keptMs > 0) cache.set(hostname, resolution, { ttl: keptMs });
      return resolution;
    } finally {
      underWay.delete(hostname);
    }
  }

  return {
    /** The addresses of a host, from the cache where it has them: for the check at creation only. Never rejects. */
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
    /** Exactly one lookup made now, neither taken from the cache nor put there: for a delivery. Never rejects. */
    async resolveFresh(hostname: string, timeoutMs: number): Promise<HostResolution> {
      if (closed) return { failed: 'closed' };
      const found = await lookUp(hostname, timeoutMs);
      return 'failed' in found ? found : { addresses: found.addresses };
    },
    /** Ends what is under way, and answers `closed` from now on. */
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

/** Why a name has no addresses: none exist, DNS timed out, the answer was an error or absurdly long. */
type LookupFailure = 'not_found' | 'timeout' | 'server_failure' | 'too_many_addresses' | 'canceled';

type Lookup =
  | {
      /** At least one; IPv4 first, because a host without IPv6 is commoner than one without IPv4. */
      readonly addresses: readonly ResolvedAddress[];
      /** The shortest time to live among the answers; infinite where DNS was not asked. */
      readonly ttlSeconds: number;
    }
  | { readonly failed: LookupFailure };

/** Maximum addresses of a host. No merchant's host has more; a longer answer is an attempt to fill memory. */
const MAX_ADDRESSES = 64;
/** Time for which a family that found addresses waits for the other one, whose server may be silent (RFC 8305). */
const OTHER_FAMILY_GRACE_MS = 1_000;

interface FamilyAnswer {
  readonly family: 4 | 6;
  readonly records: readonly { readonly address: string; readonly ttl: number }[];
  /** The resolver's error code; null when it answered. */
  readonly errorCode: string | null;
}

/**
 * Finds the addresses of a host with one DNS lookup: A and AAAA at the same time. IP literals and `localhost` are
 * answered without DNS (RFC 6761), so that an operator's allowed `localhost:8443` works on every machine.
 *
 * Never `dns.lookup`: it occupies one of the four threads that file work and password hashing share.
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

/** The answers that arrive until all are there, the time is over, or one family has waited for the other. */
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
  // A copy: a family that answers later must not change what was validated.
  return [...answers];
}

function failureOf(answers: readonly FamilyAnswer[]): LookupFailure {
  const codes = answers.map(({ errorCode }) => errorCode);
  if (answers.length < 2 || codes.includes('ETIMEOUT')) return 'timeout';
  if (codes.includes('ECANCELLED')) return 'canceled';
  const nothingThere = codes.every((code) => code === null || code === 'ENOTFOUND' || code === 'ENODATA');
  return nothingThere ? 'not_found' : 'server_failure';
}
