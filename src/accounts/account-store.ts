import type { Account, AccountChange, ActiveKey, ApiKey } from './account.ts';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';
import type { OneTimeLink } from './one-time-link.ts';
import type { Member, Membership, Passkey, Role, User } from './person.ts';
import type { DashboardSession } from './session-lifetimes.ts';
import type { ShopLogo } from './shop-profile.ts';

export interface AccountQuery {
  /** Part of the name or email address, or the whole id; ignores case, at least in Latin letters. Null for all. */
  readonly search: string | null;
  /** Accounts created before this one; null starts at the newest. */
  readonly before: Pick<Account, 'id' | 'createdAtMs'> | null;
}

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  findAccount(accountId: string): Promise<Account | null>;
  listAccounts(): Promise<readonly Account[]>;
  /** Newest first. */
  searchAccounts(query: AccountQuery, limit: number): Promise<readonly Account[]>;
  /** Null if there is no such account. */
  updateAccount(accountId: string, change: AccountChange): Promise<Account | null>;
  /** A logo that an account shows now, by its hash; null for any other. */
  findLogo(hash: string): Promise<ShopLogo | null>;

  /** False when the account already has that many active keys; decided within the transaction, so races are safe. */
  createKey(key: ApiKey, maximumActive: number): Promise<boolean>;
  listKeys(accountId: string): Promise<readonly ApiKey[]>;
  /** Revokes immediately; null if there is no such key. Revoking twice keeps the first time. */
  revokeKey(keyId: string, revokedAtMs: number): Promise<ApiKey | null>;
  /** Records when keys, given by their SHA-256, were last used. */
  recordKeyUses(hashes: readonly string[], atMs: number): Promise<void>;
  /**
   * Active key by its SHA-256, or null. On the hot path: an implementation may cache it as long as a change of key or
   * account takes effect with the next call.
   */
  findActiveKey(hash: string): Promise<ActiveKey | null>;
}

export type UserChange = Partial<Pick<User, 'passwordHash' | 'totpSecret' | 'totpStep' | 'isOperator'>>;

/** State that was checked before a write, and is checked again in its transaction. */
export interface UserGuard {
  /** The password hash and the rights that were read. */
  readonly user: Pick<User, 'passwordHash' | 'isOperator'>;
  /** The session that must still exist; null to require none. */
  readonly sessionId: string | null;
}

/** Conditions and consequences of a change of a user, all in one transaction. */
export interface UserChangeOptions {
  readonly guard?: UserGuard;
  /** The user's link that the change uses up; without it nothing changes. */
  readonly link?: { readonly tokenHash: string; readonly nowMs: number };
  /** Ends the user's links, and the sessions except one. */
  readonly endsAccess?: { readonly exceptSessionId: string | null };
  /** Removes the authenticator app, all passkeys and all recovery codes. */
  readonly removesSecondFactors?: boolean;
}

export interface PasskeyStore {
  /** False when any user has it already, the user has the maximum, or the guard does not hold. */
  addPasskey(passkey: Passkey, guard?: UserGuard): Promise<boolean>;
  /** The user's passkeys, oldest first. */
  listPasskeys(userId: string): Promise<readonly Passkey[]>;
  /** Records a use; false when the user has no such passkey, or its count has not increased and is not 0. */
  usePasskey(userId: string, id: string, counter: number, atMs: number): Promise<boolean>;
  /** False when the user has no such passkey, or the guard does not hold. */
  removePasskey(userId: string, id: string, guard?: UserGuard): Promise<boolean>;
}

/**
 * `gone`: the invitation was used, withdrawn or has expired. `other_user`: the address belongs to another user by now.
 * `full`: the account or the user has the maximum of memberships.
 */
export type Acceptance = 'accepted' | 'gone' | 'other_user' | 'full';

export interface PeopleStore extends PasskeyStore {
  /** False when a user with this email address exists. */
  createUser(user: User): Promise<boolean>;
  findUser(userId: string): Promise<User | null>;
  /** User by an address in the form of `parseUserEmail`. */
  findUserByEmail(email: string): Promise<User | null>;
  listUsers(limit: number): Promise<readonly User[]>;
  /** Null, without a change, when the user is unknown, the guard does not hold, or the link is used or expired. */
  updateUser(userId: string, change: UserChange, options?: UserChangeOptions): Promise<User | null>;

  /** Uses up a time step of the second factor; false when this or a later one was used already. */
  consumeTotpStep(userId: string, step: number): Promise<boolean>;
  /** Replaces the hashes of the recovery codes. False when the guard does not hold. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[], guard?: UserGuard): Promise<boolean>;
  /** Uses up the code with one of the hashes; false when there is none. */
  consumeRecoveryCode(userId: string, hashes: readonly string[]): Promise<boolean>;

  /** Grants a role, or changes it; false when the account or the user has the maximum. */
  putMembership(membership: Membership): Promise<boolean>;
  /**
   * Uses up an invitation, creates its user if the address has none, adds the membership, and ends the user's password
   * links, all in one transaction. Unless `accepted`, nothing changes.
   */
  acceptInvitation(
    membership: Membership,
    user: User,
    invitation: { readonly tokenHash: string; readonly nowMs: number },
  ): Promise<Acceptance>;
  /** Memberships of one user, oldest first. */
  listMemberships(userId: string): Promise<readonly Membership[]>;
  /** Members of one account, oldest first. */
  listMembers(accountId: string): Promise<readonly Member[]>;
  /**
   * Changes a role, or removes it (null). `last_owner`: refused, because no other user could manage the account;
   * decided within the transaction, so that two owners cannot remove each other.
   */
  changeMembership(
    accountId: string,
    userId: string,
    role: Role | null,
  ): Promise<'changed' | 'unknown' | 'last_owner'>;
}

/** Sessions of the dashboard and the operator's console, and one-time links. */
export interface SessionStore {
  /**
   * Starts a session. Removes expired ones and the user's oldest beyond `MAXIMUM_SESSIONS`, counting open and pending
   * ones separately. False, with nothing written, when the guard does not hold.
   */
  createSession(session: DashboardSession, guard?: UserGuard): Promise<boolean>;
  /** Session by the hash of its token, even an expired one. */
  findSession(tokenHash: string): Promise<DashboardSession | null>;
  /** The user's sessions in any stage, newest first, even expired ones. */
  listSessions(userId: string): Promise<readonly DashboardSession[]>;
  touchSession(id: string, lastSeenAtMs: number): Promise<void>;
  /** Switches the session to another account. */
  chooseAccount(id: string, accountId: string): Promise<void>;
  /**
   * Stores the challenge that the session's browser signs next, or the secret that its next page shows once, replacing
   * an earlier one of the same purpose. Beyond `MAXIMUM_CHALLENGES` purposes the oldest is removed.
   */
  keepChallenge(id: string, purpose: string, challenge: string): Promise<void>;
  /** Removes and returns the session's challenge for this purpose; null if none. */
  takeChallenge(id: string, purpose: string): Promise<string | null>;
  /** False when the user has no such session. */
  endSession(userId: string, id: string): Promise<boolean>;

  /**
   * Stores a link. An operator's password link and the code of a connection end the user's earlier links; a link
   * requested by email ends none, because anyone may request it. Emailed links and invitations beyond the maximum are
   * removed, oldest first.
   */
  createLink(link: OneTimeLink): Promise<void>;
  /** Link by the hash of its token, even an expired one. */
  findLink(tokenHash: string): Promise<OneTimeLink | null>;
  /** Removes and returns a link; null if it is used or expired. */
  takeLink(tokenHash: string, nowMs: number): Promise<OneTimeLink | null>;
  /** Ends all links of the user: those that set the password, and codes of connections. */
  endLinks(userId: string): Promise<void>;
  /** Open invitations of an account, newest first. */
  listInvitations(accountId: string, nowMs: number): Promise<readonly OneTimeLink[]>;
  /** False when the account has no such invitation. */
  removeInvitation(accountId: string, id: string): Promise<boolean>;
}

export type AuditPosition = Pick<AuditEntry, 'atMs' | 'accountId' | 'position'>;

export interface AuditStore {
  /**
   * Adds an entry, or counts a repeat (`mergedActions`). Removes the oldest of an action beyond
   * `MAXIMUM_ENTRIES_OF_ACTION`.
   */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** Newest first, before a position; null starts at the newest. */
  listEntries(accountId: string, before: number | null, limit: number): Promise<readonly AuditEntry[]>;
  /** Entries of all accounts, newest first. */
  listAllEntries(before: AuditPosition | null, limit: number): Promise<readonly AuditEntry[]>;
}
