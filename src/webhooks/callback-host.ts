import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import {
  isOwnCallback,
  NOT_PUBLIC,
  parseCallbackUrl,
  type ServiceLocation,
} from '../payment/callback-url.ts';
import { answersUntil, within } from '../platform/outgoing-calls.ts';
import { addressFamily, addressIdentity, isPublicResolvedAddress } from '../platform/public-address.ts';
import { createTtlCache } from '../platform/ttl-cache.ts';
import type { CallbackGuard } from './delivery-types.ts';

interface CallbackRules {
  /** Hosts exempt from the destination rules for callbacks, as `host:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Public location of this service, which callbacks must not target. */
  readonly own: ServiceLocation;
}

/** Creates a guard that validates new callbacks. Without `refusalOfHost`, IP addresses are checked only at delivery. */
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
 * Creates a function that returns the rule broken by a new callback's host, or null. Accepts a host that does not
 * resolve, because a merchant's DNS may fail briefly. The delivery resolves the host again and fails closed.
 */
export function createCallbackHostCheck(
  resolver: Pick<HostResolver, 'resolve'>,
  ownAddresses: OwnAddresses,
): (hostname: string) => Promise<string | null> {
  return async (hostname) => {
    const resolution = await resolver.resolve(hostname);
    const own = ownAddresses();
    // One refused address is enough, because a name with both public and private addresses is a known SSRF bypass.
    for (const address of 'failed' in resolution ? [] : resolution.addresses) {
      const refusal = refuseAddress(address, own);
      if (refusal === 'not_public') return `must not resolve to ${NOT_PUBLIC}`;
      if (refusal === 'own_address') return 'must not resolve to this service';
    }
    return null;
  };
}

/** Returns the reason not to send webhooks to a resolved IP address, or null if there is none. */
export function refuseAddress(
  address: string,
  ownAddresses: ReadonlySet<string>,
): 'not_public' | 'own_address' | null {
  if (!isPublicResolvedAddress(address)) return 'not_public';
  const identity = addressIdentity(address);
  return identity !== null && ownAddresses.has(identity) ? 'own_address' : null;
}

/** Current identities (`addressIdentity`) of this machine's IP addresses. */
export type OwnAddresses = () => ReadonlySet<string>;

/** Lifetime of the cached addresses. Interfaces rarely change, and reading them takes far longer than a set lookup. */
const MAX_AGE_MS = 60_000;

/** Caches this machine's IP addresses, where services may trust local clients. Throws if they cannot be read. */
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
  const entries = Object.values(listInterfaces(interfaces)).flatMap((each) => each ?? []);
  const identities = entries.map(({ address }) => {
    const identity = addressIdentity(address);
    if (identity === null) throw new Error(`The system reports ${address} as an interface address`);
    return identity;
  });
  return new Set(identities);
}

function listInterfaces(interfaces: typeof networkInterfaces): ReturnType<typeof networkInterfaces> {
  try {
    return interfaces();
  } catch (cause) {
    const wayOut = 'allow AF_NETLINK, for example in RestrictAddressFamilies of systemd';
    throw new Error(`The addresses of this machine cannot be read: ${wayOut}`, { cause });
  }
}

/** A host's IP addresses as canonical text (at least one, IPv4 first, no brackets), or why there are none. */
export type HostResolution =
  | { readonly addresses: readonly string[] }
  | { readonly failed: 'timeout' | 'no_address' };

export type HostResolver = ReturnType<typeof createHostResolver>;

/** Lifetime of a cached answer or failure. Without it, a silent DNS server could slow down every create request. */
const KEPT_MS = 5_000;
const MAXIMUM_KEPT = 10_000;
/** Attempts per lookup, because a packet may be lost. */
const TRIES = 3;

/** @param settings `servers`: the DNS servers as `address:port`, by default the system's */
export function createHostResolver(settings: {
  readonly servers?: readonly string[];
  readonly timeoutMs: number;
}) {
  const kept = createTtlCache<HostResolution>({
    monotonicMs: () => performance.now(),
    keepMs: KEPT_MS,
    maximumEntries: MAXIMUM_KEPT,
  });

  /** Looks up a host exactly once, bypassing the cache, for a delivery. Never rejects. */
  async function resolveFresh(hostname: string, timeoutMs: number): Promise<HostResolution> {
    // One resolver per lookup, so that changes to resolv.conf take effect.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (settings.servers !== undefined) resolver.setServers(settings.servers);
    try {
      return await lookUpAddresses(resolver, hostname, timeoutMs);
    } finally {
      resolver.cancel();
    }
  }

  return {
    /** Resolves a host, from the cache if possible. Only for the check at creation. Never rejects. */
    resolve: (hostname: string) =>
      kept.fetchOrReuse(hostname, () => resolveFresh(hostname, settings.timeoutMs)),
    resolveFresh,
  };
}

/** Maximum IP addresses of a host. A longer answer counts as a failure, because it may be meant to exhaust memory. */
const MAX_ADDRESSES = 64;

/**
 * Resolves a host with one DNS lookup, IPv4 first. Once either IP version has addresses, waits only briefly for the
 * other, whose query may never be answered. IP literals and `localhost` need no DNS (RFC 6761).
 *
 * Avoids `dns.lookup`, because it blocks one of the four threads that file operations and password hashing share.
 */
async function lookUpAddresses(
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'>,
  hostname: string,
  timeoutMs: number,
): Promise<HostResolution> {
  const fixed = addressesWithoutDns(hostname);
  if (fixed !== null) return { addresses: fixed };

  const pending = [
    askFamily(4, resolver.resolve4(hostname), timeoutMs),
    askFamily(6, resolver.resolve6(hostname), timeoutMs),
  ];
  const answers = await answersUntil(pending, ({ addresses }) =>
    addresses.length > 0 ? 'better than nothing' : 'not',
  );
  const found = answers.toSorted((a, b) => a.family - b.family).flatMap(({ addresses }) => addresses);
  if (found.length > 0 && found.length <= MAX_ADDRESSES) return { addresses: found };
  return { failed: answers.some(({ isLate }) => isLate) ? 'timeout' : 'no_address' };
}

function addressesWithoutDns(hostname: string): string[] | null {
  if (addressFamily(hostname) !== null) return [hostname];
  return hostname === 'localhost' || hostname.endsWith('.localhost') ? ['127.0.0.1', '::1'] : null;
}

async function askFamily(family: 4 | 6, pending: Promise<readonly string[]>, timeoutMs: number) {
  const late = () => Object.assign(new Error('no answer in time'), { code: 'ETIMEOUT' });
  try {
    return { family, addresses: await within(timeoutMs, pending, late), isLate: false };
  } catch (error) {
    return { family, addresses: [], isLate: (error as NodeJS.ErrnoException).code === 'ETIMEOUT' };
  }
}
