import type { Resolver } from 'node:dns/promises';
import { addressFamily } from '../domain/public-address.ts';

export interface ResolvedAddress {
  /** Canonical text, IPv6 without brackets. */
  readonly address: string;
  readonly family: 4 | 6;
}

/** Why a name has no addresses: none exist, nobody answered in time, the answer was an error or absurdly long. */
export type LookupFailure = 'not_found' | 'timeout' | 'server_failure' | 'too_many_addresses' | 'canceled';

export type Lookup =
  | {
      /** At least one; IPv4 first, because a host without IPv6 is commoner than one without IPv4. */
      readonly addresses: readonly ResolvedAddress[];
      /** The shortest time to live among the answers; infinite where DNS was not asked. */
      readonly ttlSeconds: number;
    }
  | { readonly failed: LookupFailure };

/** No merchant's host has more; a longer answer is somebody filling memory. */
const MAX_ADDRESSES = 64;
/** How long a family that found addresses waits for the other one, whose server may be silent (RFC 8305). */
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
export async function lookUpAddresses(
  resolver: Pick<Resolver, 'resolve4' | 'resolve6'>,
  hostname: string,
  timeoutMs: number,
): Promise<Lookup> {
  const fixed = addressesWithoutDns(hostname);
  if (fixed !== null) return { addresses: fixed, ttlSeconds: Number.POSITIVE_INFINITY };

  const answers = await collectAnswers(
    [
      askFamily(4, resolver.resolve4(hostname, { ttl: true })),
      askFamily(6, resolver.resolve6(hostname, { ttl: true })),
    ],
    timeoutMs,
  );
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
  asked: Promise<{ address: string; ttl: number }[]>,
): Promise<FamilyAnswer> {
  try {
    return { family, records: await asked, errorCode: null };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { family, records: [], errorCode: code };
  }
}

/** The answers that arrive until all are there, the time is over, or one family has waited for the other. */
async function collectAnswers(
  asked: readonly Promise<FamilyAnswer>[],
  timeoutMs: number,
): Promise<FamilyAnswer[]> {
  const answers: FamilyAnswer[] = [];
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timers = [setTimeout(resolve, timeoutMs)];
  for (const family of asked) {
    void family.then((answer) => {
      answers.push(answer);
      if (answers.length === asked.length) resolve();
      else if (answer.records.length > 0) timers.push(setTimeout(resolve, OTHER_FAMILY_GRACE_MS));
    });
  }
  await enough;
  for (const timer of timers) clearTimeout(timer);
  // A copy: a family that answers later must not change what was judged.
  return [...answers];
}

function failureOf(answers: readonly FamilyAnswer[]): LookupFailure {
  const codes = answers.map(({ errorCode }) => errorCode);
  if (answers.length < 2 || codes.includes('ETIMEOUT')) return 'timeout';
  if (codes.includes('ECANCELLED')) return 'canceled';
  const nothingThere = codes.every((code) => code === null || code === 'ENOTFOUND' || code === 'ENODATA');
  return nothingThere ? 'not_found' : 'server_failure';
}
