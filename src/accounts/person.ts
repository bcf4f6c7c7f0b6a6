/** Roles of an account's members in the dashboard; each role includes the rights of the ones before it. */
export const roles = ['viewer', 'developer', 'owner'] as const;
export type Role = (typeof roles)[number];

export function isRole(value: string): value is Role {
  return (roles as readonly string[]).includes(value);
}

/** Whether the role includes the rights of `needed`. */
export function roleIncludes(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

/** A user who signs in. */
export interface User {
  readonly id: string;
  /** Lower-case; names the user. */
  readonly email: string;
  /** Hash in the PHC string format; null until a link sets it. */
  readonly passwordHash: string | null;
  /** The sealed secret of the authenticator app; null without one. */
  readonly totpSecret: string | null;
  /** The newest time step of which a code was taken: this one and all before it are refused. */
  readonly totpStep: number;
  /** May sign in to the operator's console. */
  readonly isOperator: boolean;
  readonly createdAtMs: number;
}

/** A user's right in an account. */
export interface Membership {
  readonly accountId: string;
  readonly userId: string;
  readonly role: Role;
  readonly createdAtMs: number;
}

/** A membership as its account sees it. */
export interface Member extends Membership {
  readonly email: string;
  readonly hasSecondFactor: boolean;
}

/** Maximum members of an account. */
export const MAXIMUM_MEMBERS = 100;
/** Maximum accounts that one user can be a member of. */
export const MAXIMUM_MEMBERSHIPS = 100;

const MAXIMUM_EMAIL_CHARACTERS = 254;
/** The form of HTML's `<input type=email>`. */
const emailForm =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The address by which a user is found, in lower case; null when the text is none. */
export function parseUserEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= MAXIMUM_EMAIL_CHARACTERS && emailForm.test(email) ? email : null;
}

/** A key pair of a user's device, of which we have the public half. */
export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string;
  readonly userId: string;
  /** The name that its user gave it. */
  readonly name: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** The device's own count of its signatures; 0 where it does not count. */
  readonly counter: number;
  /** Transports by which the browser reaches the device, as JSON text. */
  readonly transports: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** Maximum passkeys of a user. */
export const MAXIMUM_PASSKEYS = 10;

/** The relying party of passkeys: a host, and the one origin whose pages may request them. */
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
