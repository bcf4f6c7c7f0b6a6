import type { OwnAddresses } from './own-addresses.ts';
import { refuseAddress } from './refuse-address.ts';
import type { HostResolution, HostResolver } from './resolve-host.ts';

/**
 * Judges the host of a new callback: null when it leads to public addresses only, as far as DNS can say in a short
 * time, else how it breaks the rules, as the end of a sentence that begins with "callback".
 *
 * A name without an answer is accepted: a merchant's DNS may fail for a minute, and the delivery resolves anew and
 * fails closed. Not for hosts of the operator's list (`kind: 'allowed'`), which need not be public.
 *
 * @param hostname as `parseCallbackUrl` gives it: a name, or an IP literal (which is looked at without DNS)
 */
export type CallbackHostCheck = (hostname: string) => string | null | Promise<string | null>;

export function createCallbackHostCheck(
  resolver: Pick<HostResolver, 'resolve'>,
  ownAddresses: OwnAddresses,
): CallbackHostCheck {
  /** What was made of an answer, for as long as both the resolver's cache and our own addresses stay as they are. */
  let judged = new WeakMap<HostResolution, string | null>();
  let judgedBy: ReadonlySet<string> | null = null;

  function judge(resolution: HostResolution): string | null {
    const own = ownAddresses();
    if (own !== judgedBy) [judged, judgedBy] = [new WeakMap(), own];
    const known = judged.get(resolution);
    if (known !== undefined) return known;
    const refusal = refusalOf(resolution, own);
    judged.set(resolution, refusal);
    return refusal;
  }

  return (hostname) => {
    const resolution = resolver.resolve(hostname);
    return resolution instanceof Promise ? resolution.then(judge) : judge(resolution);
  };
}

/** One refused address is enough: a name with a public and a private answer is how a filter is led astray. */
function refusalOf(resolution: HostResolution, own: ReadonlySet<string>): string | null {
  if ('failed' in resolution) return null;
  for (const { address } of resolution.addresses) {
    const refusal = refuseAddress(address, own);
    if (refusal === 'not_public') return 'must not resolve to a private, local or reserved address';
    if (refusal === 'own_address') return 'must not resolve to this service itself';
  }
  return null;
}
