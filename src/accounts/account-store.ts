import type { Account, AccountChange, ActiveKey, ApiKey } from './account.ts';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';
import type { Member, Membership, Passkey, Role, User } from './person.ts';
import type { DashboardSession } from './session-lifetimes.ts';
import type { ShopLogo } from './shop-profile.ts';

export interface AccountQuery {
  /** Part of the name or email address, or the whole id. Ignores case, at least in Latin letters; null matches all. */
  readonly search: string | null;
  /** Accounts created before this one; null starts with the newest. */
  readonly before: Pick<Account, 'id' | 'createdAtMs'> | null;
}

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  findAccount(accountId: string): Promise<Account | null>;
  listAccounts(): Promise<readonly Account[]>;
  /** Newest first. */
  searchAccounts(query: AccountQuery, limit: number): Promise<readonly Account[]>;
  /** If `change` is a function, it decides within the transaction. */
  updateAccount(
    accountId: string,
    change: AccountChange | ((account: Account) => AccountChange),
  ): Promise<Account | null>;
  /** The logo with this hash, if an account shows it now; otherwise null. */
  findLogo(hash: string): Promise<ShopLogo | null>;

  /** False when the account already has `maximumActive` keys, as decided within the transaction. */
  createKey(key: ApiKey, maximumActive: number): Promise<boolean>;
  listKeys(accountId: string): Promise<readonly ApiKey[]>;
  /** Takes effect immediately; null for an unknown key. A repeated call keeps the original time. */
  revokeKey(keyId: string, revokedAtMs: number): Promise<ApiKey | null>;
  recordKeyUses(hashes: readonly string[], atMs: number): Promise<void>;
  /** Active key by its SHA-256, or null. A change to the key or account takes effect with the next call. */
  findActiveKey(hash: string): Promise<ActiveKey | null>;
}

export type UserChange = Partial<Pick<User, 'passwordHash' | 'totpSecret' | 'totpStep' | 'isOperator'>>;

/** State that was checked before a write and must still hold within the write's transaction. */
export interface UserGuard {
  readonly user: Pick<User, 'passwordHash' | 'isOperator'>;
  /** The session that must still exist; null to require none. */
  readonly sessionId: string | null;
}

/** Conditions and consequences of a change to a user, all in one transaction. */
export interface UserChangeOptions {
  readonly guard?: UserGuard;
  /** The user's link that the change uses up. If the link is used or expired, nothing changes. */
  readonly link?: { readonly tokenHash: string; readonly nowMs: number };
  /** Ends links and all sessions but this one (null: all). With a new password, passkeys no longer sign in alone. */
  readonly endsAccess?: { readonly exceptSessionId: string | null };
  /** Removes the authenticator app, all passkeys and all recovery codes. */
  readonly removesSecondFactors?: boolean;
}

/** `gone`: the invitation was used, withdrawn or has expired. `full`: a maximum of memberships is reached. */
export type Acceptance = 'accepted' | 'gone' | 'other_user' | 'full';

export interface PeopleStore {
  /** False when a user already has this passkey, the user has the maximum, or the guard does not hold. */
  addPasskey(passkey: Passkey, guard?: UserGuard): Promise<boolean>;
  /** Oldest first. */
  listPasskeys(userId: string): Promise<readonly Passkey[]>;
  /** False for an unknown passkey, a signature count that has not grown and is not 0, or a use since `unusedSinceMs`. */
  usePasskey(
    userId: string,
    id: string,
    counter: number,
    atMs: number,
    unusedSinceMs?: number,
  ): Promise<boolean>;
  /** False when the user has no such passkey, or the guard does not hold. */
  removePasskey(userId: string, id: string, guard?: UserGuard): Promise<boolean>;

  /** False when a user with this email address exists. */
  createUser(user: User): Promise<boolean>;
  findUser(userId: string): Promise<User | null>;
  /** User by an email address, as `parseUserEmail` returns it. */
  findUserByEmail(email: string): Promise<User | null>;
  listUsers(limit: number): Promise<readonly User[]>;
  /** Null, without a change, when the user is unknown, the guard does not hold, or the link is used or expired. */
  updateUser(userId: string, change: UserChange, options?: UserChangeOptions): Promise<User | null>;

  /** Uses up a time step of the second factor; false when this step or a later one is used up. */
  consumeTotpStep(userId: string, step: number): Promise<boolean>;
  /** Replaces the hashes of the recovery codes. False when the guard does not hold. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[], guard?: UserGuard): Promise<boolean>;
  /** Uses up the code with one of the hashes; false when there is none. */
  consumeRecoveryCode(userId: string, hashes: readonly string[]): Promise<boolean>;

  /** Grants a role, or changes it; false when the account or the user has the maximum. */
  putMembership(membership: Membership): Promise<boolean>;
  /** Uses up an invitation, creates a missing user, adds the membership and ends the user's links, or does nothing. */
  acceptInvitation(
    membership: Membership,
    user: User,
    invitation: { readonly tokenHash: string; readonly nowMs: number },
  ): Promise<Acceptance>;
  /** Oldest first. */
  listMemberships(userId: string): Promise<readonly Membership[]>;
  /** Oldest first. */
  listMembers(accountId: string): Promise<readonly Member[]>;
  /** Changes a role, or removes it (null). `last_owner`: refused, decided within the transaction. */
  changeMembership(
    accountId: string,
    userId: string,
    role: Role | null,
  ): Promise<'changed' | 'unknown' | 'last_owner'>;
}

export interface OneTimeLink {
  readonly id: string;
  /** SHA-256 of the token in the link, hex. */
  readonly tokenHash: string;
  /** `forgotten`: anyone may request it. `connect`: exchanged for an API key (`features/connect/connect-shop.ts`). */
  readonly kind: 'password' | 'forgotten' | 'invitation' | 'connect';
  readonly email: string;
  /** User whose password the link sets, or who approved the connection; null for an invitation. */
  readonly userId: string | null;
  /** Account of an invitation, and the role there; null for other links. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Maximum `forgotten` links of a user; the oldest is deleted. The rate limit allows fewer of these emails per day. */
export const MAXIMUM_FORGOTTEN_LINKS = 100;
/** Maximum open invitations of an account, beyond which the oldest is deleted. */
export const MAXIMUM_INVITATIONS = 50;

export interface SessionStore {
  /** Starts a session. Removes the oldest beyond `MAXIMUM_SESSIONS`, open and pending ones counted separately. */
  createSession(session: DashboardSession, guard?: UserGuard): Promise<boolean>;
  /** Session by its token's hash, even if expired. */
  findSession(tokenHash: string): Promise<DashboardSession | null>;
  /** The user's sessions in any stage, newest first, including expired ones. */
  listSessions(userId: string): Promise<readonly DashboardSession[]>;
  touchSession(id: string, lastSeenAtMs: number): Promise<void>;
  chooseAccount(id: string, accountId: string): Promise<void>;
  /** Stores a challenge to sign, or a secret for the next page. Removes the oldest beyond `MAXIMUM_CHALLENGES`. */
  keepChallenge(id: string, purpose: string, challenge: string): Promise<void>;
  takeChallenge(id: string, purpose: string): Promise<string | null>;
  endSession(userId: string, id: string): Promise<boolean>;

  /** `password` and `connect` end the user's earlier links, `forgotten` none. Removes the oldest beyond the maximum. */
  createLink(link: OneTimeLink): Promise<void>;
  /** Link by its token's hash, even if expired. */
  findLink(tokenHash: string): Promise<OneTimeLink | null>;
  /** Removes and returns a link; null if it is unknown, used or expired. */
  takeLink(tokenHash: string, nowMs: number): Promise<OneTimeLink | null>;
  /** Ends all links of the user: those that set the password, and codes of connections. */
  endLinks(userId: string): Promise<void>;
  /** Unexpired invitations of an account, newest first. */
  listInvitations(accountId: string, nowMs: number): Promise<readonly OneTimeLink[]>;
  removeInvitation(accountId: string, id: string): Promise<boolean>;
}

export type AuditPosition = Pick<AuditEntry, 'atMs' | 'accountId' | 'position'>;

/** Entries from `fromMs` (inclusive) to `beforeMs` (exclusive). */
export interface AuditRange {
  readonly fromMs?: number | undefined;
  readonly beforeMs?: number | undefined;
}

export interface AuditStore {
  /** Adds an entry, or counts a repeat of one of the `mergedActions`. Removes the oldest beyond the maximum. */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** Deletes up to `limit` of the oldest, and returns how many. Each account keeps its newest, to number the next. */
  deleteEntriesBefore(beforeMs: number, limit: number): Promise<number>;
  /** Entries of an account, or of all (null), newest first; `before` is the last one already read, or null. */
  listEntries(
    accountId: string | null,
    before: AuditPosition | null,
    limit: number,
    range?: AuditRange,
  ): Promise<readonly AuditEntry[]>;
}

/**
 * `opened`: a customer first opened a checkout. `dismissed`: alerts that a member dismissed. `settled`: how and by whom
 * a payment was settled between merchant and customer; not shown to the customer.
 */
export type RecordKind = 'opened' | 'dismissed' | 'settled';

/** Dashboard data that is not part of payments. `name` is a payment's id or a group of alerts. */
export interface AccountRecord {
  readonly accountId: string;
  readonly kind: RecordKind;
  readonly name: string;
  readonly texts: readonly string[];
  readonly atMs: number;
}

export interface RecordStore {
  /** Adds records; existing ones of the same kind and name stay. */
  addRecords(records: readonly AccountRecord[]): Promise<void>;
  replaceRecord(record: AccountRecord): Promise<void>;
  /** Existing records with these names; without `names`, the newest thousand of the kind. */
  listRecords(
    accountId: string,
    kind: RecordKind,
    names?: readonly string[],
  ): Promise<readonly AccountRecord[]>;
}
