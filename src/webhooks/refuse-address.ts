import { addressIdentity, isPublicResolvedAddress } from '../domain/public-address.ts';

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
