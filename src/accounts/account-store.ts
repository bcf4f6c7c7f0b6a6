import type { Account, AccountChange, ActiveKey, ApiKey } from './account.ts';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';
import type { DashboardSession, OneTimeLink } from './dashboard-session.ts';
import type { Member, Membership, Passkey, Role, User } from './person.ts';
import type { ShopLogo } from './shop-profile.ts';

export interface AccountQuery {
  /** A part of the name or of the email address, or the whole id; case is ignored, at least in Latin letters. Null for all. */
  readonly search: string | null;
  /** Accounts created before this one; null starts at the newest. */
  readonly before: Pick<Account, 'id' | 'createdAtMs'> | null;
}

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  findAccount(accountId: string): Promise<Account | null>;
  listAccounts(): Promise<readonly Account[]>;
  /** The newest first. */
  searchAccounts(query: AccountQuery, limit: number): Promise<readonly Account[]>;
  /** Null when there is no such account. */
  updateAccount(accountId: string, change: AccountChange): Promise<Account | null>;
  /** A logo that an account shows now, by its hash; null for any other. */
  findLogo(hash: string): Promise<ShopLogo | null>;

  /** False when the account already has so many active keys; decided within the transaction, so races are safe. */
  createKey(key: ApiKey, maximumActive: number): Promise<boolean>;
  listKeys(accountId: string): Promise<readonly ApiKey[]>;
  /** Revokes at once; null when there is no such key. Revoking twice keeps the first time. */
  revokeKey(keyId: string, revokedAtMs: number): Promise<ApiKey | null>;
  /** Writes down when keys, named by their SHA-256, were last used. */
  recordKeyUses(hashes: readonly string[], atMs: number): Promise<void>;
  /**
   * An active key by its SHA-256, or null. On the hot path: an implementation may keep it in memory so long as a change
   * of key or account takes effect with the next call.
   */
  findActiveKey(hash: string): Promise<ActiveKey | null>;
}

export type UserChange = Partial<Pick<User, 'passwordHash' | 'totpSecret' | 'totpStep' | 'isOperator'>>;

/** What was checked before a write, and is checked again in the transaction that writes. */
export interface UserGuard {
  /** The password hash and the rights that were read. */
  readonly user: Pick<User, 'passwordHash' | 'isOperator'>;
  /** The session that must still exist; null where none asks. */
  readonly sessionId: string | null;
}

/** Conditions and consequences of a change of a user, all in one transaction. */
export interface UserChangeOptions {
  readonly guard?: UserGuard;
  /** The user's link that the change uses up; without it nothing is changed. */
  readonly link?: { readonly tokenHash: string; readonly nowMs: number };
  /** Ends the user's password links, and the sessions except one. */
  readonly endsAccess?: { readonly exceptSessionId: string | null };
  /** Removes the authenticator app, all passkeys and all recovery codes. */
  readonly removesSecondFactors?: boolean;
}

export interface PasskeyStore {
  /** False when any user has it already, the user has the maximum, or the guard does not hold. */
  addPasskey(passkey: Passkey, guard?: UserGuard): Promise<boolean>;
  /** The user's, the oldest first. */
  listPasskeys(userId: string): Promise<readonly Passkey[]>;
  /** Notes a use; false when there is no such passkey of the user, or when its count has not gone up. */
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
  /** False when there is a user with this email address. */
  createUser(user: User): Promise<boolean>;
  findUser(userId: string): Promise<User | null>;
  /** A user by an address in the form of `parseUserEmail`. */
  findUserByEmail(email: string): Promise<User | null>;
  /** Users in the order of their addresses. */
  listUsers(limit: number): Promise<readonly User[]>;
  /** Null, with nothing changed, when there is no such user, the guard does not hold, or the link is gone or expired. */
  updateUser(userId: string, change: UserChange, options?: UserChangeOptions): Promise<User | null>;

  /** Takes a time step of the second factor; false when this one or a later one was taken already. */
  consumeTotpStep(userId: string, step: number): Promise<boolean>;
  /** Hashes of the codes that stand in for the second factor; the earlier ones are forgotten. False when the guard does not hold. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[], guard?: UserGuard): Promise<boolean>;
  /** Uses up the code that has one of the hashes; false when there is none. */
  consumeRecoveryCode(userId: string, hashes: readonly string[]): Promise<boolean>;

  /** Gives a right, or changes it; false when the account or the user has as many as may be. */
  putMembership(membership: Membership): Promise<boolean>;
  /**
   * Uses an invitation up, creates its user if the address has none, and gives the membership, all in one transaction.
   * Unless it is `accepted`, nothing changes: the invitation stays valid, and no user is created. Ends the user's
   * password links.
   */
  acceptInvitation(
    membership: Membership,
    user: User,
    invitation: { readonly tokenHash: string; readonly nowMs: number },
  ): Promise<Acceptance>;
  /** Memberships of one user, the oldest first. */
  listMemberships(userId: string): Promise<readonly Membership[]>;
  /** Members of one account, the oldest first. */
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

/** Sessions of the dashboard and the operator's console, and links that work once. */
export interface SessionStore {
  /**
   * Begins a session; the user's oldest beyond `MAXIMUM_SESSIONS` open ones, or as many that are not open yet, and those that
   * are over, are removed. False, with nothing written, when the guard does not hold.
   */
  createSession(session: DashboardSession, guard?: UserGuard): Promise<boolean>;
  /** A session by the hash of its token; also one that has ended. */
  findSession(tokenHash: string): Promise<DashboardSession | null>;
  /** The user's sessions in any stage, newest first; also those that have ended. */
  listSessions(userId: string): Promise<readonly DashboardSession[]>;
  touchSession(id: string, lastSeenAtMs: number): Promise<void>;
  /** Switches the session to another account. */
  chooseAccount(id: string, accountId: string): Promise<void>;
  /**
   * Keeps what the session's browser has to sign next, or what its next page shows once, in place of an earlier one of the
   * same purpose. Beyond `MAXIMUM_CHALLENGES` purposes the oldest goes.
   */
  keepChallenge(id: string, purpose: string, challenge: string): Promise<void>;
  /** Takes the one of the purpose, so that it works once; null when there is none. Others stay. */
  takeChallenge(id: string, purpose: string): Promise<string | null>;
  /** False when the user has no such session. */
  endSession(userId: string, id: string): Promise<boolean>;

  /**
   * Keeps a link. One of the operator for a password ends the user's earlier ones; one that was asked for by email ends
   * none, because anyone may have asked. Emailed links and invitations beyond the most go, oldest first.
   */
  createLink(link: OneTimeLink): Promise<void>;
  /** A link by the hash of its token; also one that has expired. */
  findLink(tokenHash: string): Promise<OneTimeLink | null>;
  /** Takes a link, so that it works once; null when it is gone or expired. */
  takeLink(tokenHash: string, nowMs: number): Promise<OneTimeLink | null>;
  /** Ends all links that set the user's password. */
  endLinks(userId: string): Promise<void>;
  /** Open invitations of an account, the newest first. */
  listInvitations(accountId: string, nowMs: number): Promise<readonly OneTimeLink[]>;
  /** False when the account has no such invitation. */
  removeInvitation(accountId: string, id: string): Promise<boolean>;
}

/** The position of an entry among those of all accounts. */
export type AuditPosition = Pick<AuditEntry, 'atMs' | 'accountId' | 'position'>;

export interface AuditStore {
  /** Adds an entry, or counts a repeat (`mergedActions`); the oldest of an action beyond `MAXIMUM_ENTRIES_OF_ACTION` are removed in steps. */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** The newest first, those before a position or, with null, from the newest on. */
  listEntries(accountId: string, before: number | null, limit: number): Promise<readonly AuditEntry[]>;
  /** Entries of all accounts together, the newest first. */
  listAllEntries(before: AuditPosition | null, limit: number): Promise<readonly AuditEntry[]>;
}
