import {
  type AcceptedCallbackUrl,
  isOwnCallback,
  parseCallbackUrl,
  type ServiceLocation,
} from '../domain/callback-url.ts';
import type { CallbackGuard } from '../domain/ports/callback-guard.ts';
import { createCallbackHostCheck } from '../webhooks/check-callback-host.ts';
import type { OwnAddresses } from '../webhooks/own-addresses.ts';
import type { HostResolver } from '../webhooks/resolve-host.ts';

/** What callbacks are judged by. */
export interface CallbackRules {
  /** Exempt from every rule but the form: `host:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Where this service is reached: a callback must not lead there. */
  readonly own: ServiceLocation;
}

/** Judges a callback by its text alone, where no resolver runs; what it leads to is judged again when it is used. */
export function createTextCallbackGuard(rules: CallbackRules): CallbackGuard {
  return {
    refusalOf(callback) {
      const parsed = parseCallbackUrl(callback, rules.allowedHosts);
      return parsed.ok ? refuseOwn(parsed, rules) : parsed.reason;
    },
  };
}

/** The judge of callbacks at creation: first the text, then where its name leads. */
export function createCallbackGuard(
  resolver: HostResolver,
  ownAddresses: OwnAddresses,
  rules: CallbackRules,
): CallbackGuard {
  const refusalOfHost = createCallbackHostCheck(resolver, ownAddresses);
  return {
    refusalOf(callback) {
      const parsed = parseCallbackUrl(callback, rules.allowedHosts);
      if (!parsed.ok) return parsed.reason;
      if (parsed.kind === 'allowed') return null;
      return refuseOwn(parsed, rules) ?? refusalOfHost(parsed.hostname);
    },
  };
}

function refuseOwn(callback: AcceptedCallbackUrl, { own }: CallbackRules): string | null {
  if (callback.kind === 'allowed' || !isOwnCallback(callback, own)) return null;
  return 'must not lead to this service itself';
}
