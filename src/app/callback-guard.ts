import { parseCallbackUrl } from '../domain/callback-url.ts';
import type { CallbackGuard } from '../domain/ports/callback-guard.ts';
import { createCallbackHostCheck } from '../webhooks/check-callback-host.ts';
import type { OwnAddresses } from '../webhooks/own-addresses.ts';
import type { HostResolver } from '../webhooks/resolve-host.ts';

/** Judges a callback by its text alone, where no resolver runs; what it leads to is judged again when it is used. */
export function createTextCallbackGuard(allowedHosts: ReadonlySet<string>): CallbackGuard {
  return {
    refusalOf(callback) {
      const parsed = parseCallbackUrl(callback, allowedHosts);
      return parsed.ok ? null : parsed.reason;
    },
  };
}

/** The judge of callbacks at creation: first the text, then where its name leads. */
export function createCallbackGuard(
  resolver: HostResolver,
  ownAddresses: OwnAddresses,
  allowedHosts: ReadonlySet<string>,
): CallbackGuard {
  const refusalOfHost = createCallbackHostCheck(resolver, ownAddresses);
  return {
    refusalOf(callback) {
      const parsed = parseCallbackUrl(callback, allowedHosts);
      if (!parsed.ok) return parsed.reason;
      return parsed.kind === 'allowed' ? null : refusalOfHost(parsed.hostname);
    },
  };
}
