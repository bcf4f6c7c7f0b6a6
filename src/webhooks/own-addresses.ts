import { networkInterfaces } from 'node:os';
import { addressIdentity } from '../domain/public-address.ts';

/** The identities (`addressIdentity`) of the addresses this machine answers on, as they are now. */
export type OwnAddresses = () => ReadonlySet<string>;

/** Interfaces come and go, but not between two requests; asking the system costs far more than a set look-up. */
const MAX_AGE_MS = 60_000;

/**
 * Makes the function that knows this machine's own addresses. A callback must not lead to them even when they are
 * public: what listens there may trust whoever comes from the same machine.
 */
export function createOwnAddresses(): OwnAddresses {
  let known: ReadonlySet<string> = new Set();
  let readAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - readAtMs > MAX_AGE_MS) {
      known = readOwnAddresses();
      readAtMs = nowMs;
    }
    return known;
  };
}

function readOwnAddresses(): ReadonlySet<string> {
  const identities = new Set<string>();
  for (const { address } of Object.values(networkInterfaces()).flatMap((entries) => entries ?? [])) {
    const identity = addressIdentity(address);
    if (identity === null) throw new Error(`The system reports ${address} as an interface address`);
    identities.add(identity);
  }
  return identities;
}
