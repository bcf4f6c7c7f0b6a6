/** Roles of members. Each has the rights of the roles before it. `sections-by-role.ts` lists their pages. */
export const roles = ['viewer', 'developer', 'owner'] as const;
export type Role = (typeof roles)[number];

export function isRole(value: string): value is Role {
  return (roles as readonly string[]).includes(value);
}

export function roleIncludes(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export interface User {
  readonly id: string;
  /** Email address in lower case, unique per user. */
  readonly email: string;
  /** Hash in the PHC string format; null until the user sets a password through a link. */
  readonly passwordHash: string | null;
  /** Sealed secret of the authenticator app; null if the user has none. */
  readonly totpSecret: string | null;
  /** Latest TOTP time step used. Codes of this step and earlier steps are refused. */
  readonly totpStep: number;
  /** Whether the user may sign in to the operator's console. */
  readonly isOperator: boolean;
  readonly createdAtMs: number;
}

export interface Membership {
  readonly accountId: string;
  readonly userId: string;
  readonly role: Role;
  readonly createdAtMs: number;
}

export interface Member extends Membership {
  readonly email: string;
  readonly hasSecondFactor: boolean;
}

export const MAXIMUM_MEMBERS = 100;
export const MAXIMUM_MEMBERSHIPS = 100;

const MAXIMUM_EMAIL_CHARACTERS = 254;
/** Syntax that HTML requires of `<input type=email>`. */
const emailForm =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Parses an email address and converts it to lower case; null for invalid text. */
export function parseUserEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return email.length <= MAXIMUM_EMAIL_CHARACTERS && emailForm.test(email) ? email : null;
}

/** Registered public key of a key pair on a user's device. */
export interface Passkey {
  /** Credential id, base64url. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  /** Number of signatures that the device has counted; 0 if it does not count. */
  readonly counter: number;
  /** WebAuthn transports with which the browser reaches the device, as a JSON array. */
  readonly transports: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  /** Whether the passkey signs in without a password. It must be discoverable and created with user verification. */
  readonly isPasswordless: boolean;
}

export const MAXIMUM_PASSKEYS = 10;

/** Host for which passkeys are valid, and the origin of the page that requests them. */
export interface RelyingParty {
  readonly host: string;
  readonly origin: string;
}

/** Returns the relying party for a page, with the host of `homeUrl`; null if the page cannot use passkeys. */
export function relyingPartyOf(homeUrl: string, pageUrl = homeUrl): RelyingParty | null {
  const { hostname: host } = new URL(homeUrl);
  const { hostname, origin, protocol } = new URL(pageUrl);
  if (hostname !== 'localhost' && protocol !== 'https:') return null;
  if (/^[\d.]+$|^\[/.test(host)) return null;
  return hostname === host || hostname.endsWith(`.${host}`) ? { host, origin } : null;
}
