/** Roles of an account's members; each role includes the rights of the ones before it. */
export const roles = ['viewer', 'developer', 'owner'] as const;
export type Role = (typeof roles)[number];

export function isRole(value: string): value is Role {
  return (roles as readonly string[]).includes(value);
}

/** Whether the role includes the rights of `needed`. */
export function roleIncludes(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export interface User {
  readonly id: string;
  /** Lower-case; identifies the user. */
  readonly email: string;
  /** Hash in the PHC string format; null until a link sets it. */
  readonly passwordHash: string | null;
  /** Sealed secret of the authenticator app; null if there is none. */
  readonly totpSecret: string | null;
  /** Newest used time step; codes of this and earlier ones are refused. */
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

/** A membership as shown to its account. */
export interface Member extends Membership {
  readonly email: string;
  readonly hasSecondFactor: boolean;
}

export const MAXIMUM_MEMBERS = 100;
export const MAXIMUM_MEMBERSHIPS = 100;

const MAXIMUM_EMAIL_CHARACTERS = 254;
/** Form of HTML's `<input type=email>`. */
const emailForm =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Parses an email address to lower case; null for an invalid one. */
export function parseUserEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= MAXIMUM_EMAIL_CHARACTERS && emailForm.test(email) ? email : null;
}

/** Public half of a key pair on a user's device. */
export interface Passkey {
  /** The credential's id, base64url. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** The device's count of its signatures; 0 where it does not count. */
  readonly counter: number;
  /** Transports by which the browser reaches the device, as JSON text. */
  readonly transports: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

export const MAXIMUM_PASSKEYS = 10;

/** Relying party of passkeys: a host, and the one origin whose pages may request them. */
export interface RelyingParty {
  readonly host: string;
  readonly origin: string;
}

/**
 * Relying party of a page. Null if browsers have no passkeys there: at a host without a name, without encryption beyond
 * this machine, or at a host other than that of `homeUrl`.
 *
 * @param homeUrl address at which passkeys are created; browsers use them there and at subdomains
 * @param pageUrl address of the page that requests one
 */
export function relyingPartyOf(homeUrl: string, pageUrl = homeUrl): RelyingParty | null {
  const { hostname: host } = new URL(homeUrl);
  const { hostname, origin, protocol } = new URL(pageUrl);
  if (hostname !== 'localhost' && protocol !== 'https:') return null;
  if (/^[\d.]+$|^\[/.test(host)) return null;
  return hostname === host || hostname.endsWith(`.${host}`) ? { host, origin } : null;
}
