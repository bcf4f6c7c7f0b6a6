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
  /** Hosts exempt from the rules about where a callback may lead, as `host:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Public location of this service, which callbacks must not target. */
  readonly own: ServiceLocation;
}

/** Validates callbacks at creation. Without `refusalOfHost`, their IP addresses are validated only at delivery. */
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
 * Creates a function that returns the rule that a new callback's host breaks, or null. A name without an answer is
 * accepted, because a merchant's DNS may fail briefly, and the delivery resolves again and fails closed.
 */
export function createCallbackHostCheck(
  resolver: Pick<HostResolver, 'resolve'>,
  ownAddresses: OwnAddresses,
): (hostname: string) => Promise<string | null> {
  return async (hostname) => {
    const resolution = await resolver.resolve(hostname);
    const own = ownAddresses();
    // One refused address is enough, because a name with a public and a private answer is a known SSRF bypass.
    for (const address of 'failed' in resolution ? [] : resolution.addresses) {
      const refusal = refuseAddress(address, own);
      if (refusal === 'not_public') return `must not resolve to ${NOT_PUBLIC}`;
      if (refusal === 'own_address') return 'must not resolve to this service';
    }
    return null;
  };
}

/** Why a webhook must not go to a resolved IP address; null if it may. */
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

/** Interfaces rarely change, and reading them costs far more than a set lookup. */
const MAX_AGE_MS = 60_000;

/** Reads this machine's IP addresses, at which a service may trust local clients. Throws if they cannot be read. */
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

/** IP addresses of a host as canonical text (at least one, IPv4 first, no brackets), or why there are none. */
export type HostResolution =
  | { readonly addresses: readonly string[] }
  | { readonly failed: 'timeout' | 'no_address' };

export type HostResolver = ReturnType<typeof createHostResolver>;

/** Lifetime of a cached answer or failure, so that a silent DNS server cannot slow down every create request. */
const KEPT_MS = 5_000;
const MAXIMUM_KEPT = 10_000;
/** Attempts within one lookup, because a packet may get lost. */
const TRIES = 3;

/** @param settings `servers`: `address:port` of the DNS servers; the system's if absent */
export function createHostResolver(settings: {
  readonly servers?: readonly string[];
  readonly timeoutMs: number;
}) {
  const kept = createTtlCache<HostResolution>({
    monotonicMs: () => performance.now(),
    keepMs: KEPT_MS,
    maximumEntries: MAXIMUM_KEPT,
  });

  /** Makes exactly one lookup without the cache, for a delivery. Never rejects. */
  async function resolveFresh(hostname: string, timeoutMs: number): Promise<HostResolution> {
    // One resolver per lookup, so that a changed resolv.conf is read.
    const resolver = new Resolver({ timeout: Math.ceil(timeoutMs / TRIES), tries: TRIES });
    if (settings.servers !== undefined) resolver.setServers(settings.servers);
    try {
      return await lookUpAddresses(resolver, hostname, timeoutMs);
    } finally {
      resolver.cancel();
    }
  }

  return {
    /** Addresses of a host, from the cache if possible, for the check at creation only. Never rejects. */
    resolve: (hostname: string) =>
      kept.fetchOrReuse(hostname, () => resolveFresh(hostname, settings.timeoutMs)),
    resolveFresh,
  };
}

/** Maximum IP addresses of a host; a longer answer is an attempt to fill memory. */
const MAX_ADDRESSES = 64;

/**
 * Finds the addresses of a host with one DNS lookup, IPv4 first. A family with addresses waits only briefly for the
 * other one, whose server may be silent. IP literals and `localhost` need no DNS (RFC 6761).
 *
 * Avoids `dns.lookup`, which occupies one of the four threads shared with file operations and password hashing.
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
