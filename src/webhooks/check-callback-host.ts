import type { OwnAddresses } from './own-addresses.ts';
import { refuseAddress } from './refuse-address.ts';
import type { HostResolver } from './resolve-host.ts';

/** What creation makes of the host of a callback; `reason` ends a sentence that begins with "callback". */
export type CallbackHostVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Whether the host of a new callback leads to public addresses only, as far as DNS can say in a short time.
 *
 * A name without an answer is accepted: a merchant's DNS may fail for a minute, and the delivery resolves anew and
 * fails closed. Not for hosts of the operator's list (`kind: 'allowed'`), which need not be public.
 *
 * @param hostname as `parseCallbackUrl` gives it: a name, or an IP literal (which is looked at without DNS)
 */
export async function checkCallbackHost(
  resolver: Pick<HostResolver, 'resolve'>,
  hostname: string,
  ownAddresses: OwnAddresses,
): Promise<CallbackHostVerdict> {
  const resolution = await resolver.resolve(hostname);
  if ('failed' in resolution) return { ok: true };
  const own = ownAddresses();
  // One refused address is enough: a name with a public and a private answer is how a filter is led astray.
  for (const { address } of resolution.addresses) {
    const refusal = refuseAddress(address, own);
    if (refusal === 'not_public') {
      return { ok: false, reason: 'must not resolve to a private, local or reserved address' };
    }
    if (refusal === 'own_address') return { ok: false, reason: 'must not resolve to this service itself' };
  }
  return { ok: true };
}
