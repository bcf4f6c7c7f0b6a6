/** A key pair of a user's device, of which we have the public half. */
export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string;
  readonly userId: string;
  /** What its user calls it. */
  readonly name: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** How often the device has signed, as it says itself; 0 where it does not count. */
  readonly counter: number;
  /** How the browser can reach it, as JSON text. */
  readonly transports: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** At most this many has a user. */
export const MAXIMUM_PASSKEYS = 10;

/** Whom passkeys are made for: a host, and the one origin whose pages may ask for them. */
export interface RelyingParty {
  readonly host: string;
  readonly origin: string;
}

/**
 * Null where browsers have no passkeys: an address without a name, or without encryption beyond this machine.
 *
 * @param homeUrl the address that passkeys are made at; browsers use them there and at names below its name
 * @param pageUrl the address of the page that asks for one
 */
export function relyingPartyOf(homeUrl: string, pageUrl = homeUrl): RelyingParty | null {
  const { hostname: host } = new URL(homeUrl);
  const { hostname, origin, protocol } = new URL(pageUrl);
  if (hostname !== 'localhost' && protocol !== 'https:') return null;
  if (/^[\d.]+$|^\[/.test(host)) return null;
  return hostname === host || hostname.endsWith(`.${host}`) ? { host, origin } : null;
}
