import type { Account, AccountChange, ActiveKey, ApiKey } from './account.ts';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';
import type { Member, Membership, Passkey, Role, User } from './person.ts';
import type { DashboardSession } from './session-lifetimes.ts';
import type { ShopLogo } from './shop-profile.ts';

export interface AccountQuery {
  /** Part of the name or email address, or the whole id; null matches all. Ignores case, at least for ASCII letters. */
  readonly search: string | null;
  /** Account after which the page starts, in order from newest to oldest; null for the first page. */
  readonly before: Pick<Account, 'id' | 'createdAtMs'> | null;
}

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  findAccount(accountId: string): Promise<Account | null>;
  listAccounts(): Promise<readonly Account[]>;
  /** Returns matching accounts, newest first. */
  searchAccounts(query: AccountQuery, limit: number): Promise<readonly Account[]>;
  /** Updates an account; null if it is unknown. If `change` is a function, it runs within the transaction. */
  updateAccount(
    accountId: string,
    change: AccountChange | ((account: Account) => AccountChange),
  ): Promise<Account | null>;
  /** Returns the logo with this hash if it is an account's current logo; otherwise null. */
  findLogo(hash: string): Promise<ShopLogo | null>;

  /** Stores a key. Returns false if the account already has `maximumActive` active keys. */
  createKey(key: ApiKey, maximumActive: number): Promise<boolean>;
  listKeys(accountId: string): Promise<readonly ApiKey[]>;
  /** Revokes a key; null for an unknown key. A repeated call keeps the original time. */
  revokeKey(keyId: string, revokedAtMs: number): Promise<ApiKey | null>;
  recordKeyUses(hashes: readonly string[], atMs: number): Promise<void>;
  /** Returns the active key with this SHA-256, or null. Always reflects the latest change to the key or account. */
  findActiveKey(hash: string): Promise<ActiveKey | null>;
}

export type UserChange = Partial<Pick<User, 'passwordHash' | 'totpSecret' | 'totpStep' | 'isOperator'>>;

/** Facts about a user, checked before a write, that must still hold within its transaction. */
export interface UserGuard {
  readonly user: Pick<User, 'passwordHash' | 'isOperator'>;
  /** Session that must still exist; null if no session is required. */
  readonly sessionId: string | null;
}

/** Conditions and side effects of a change to a user, all within one transaction. */
export interface UserChangeOptions {
  readonly guard?: UserGuard;
  /** One-time link that authorizes the change. Nothing changes if the link is already used or expired. */
  readonly link?: { readonly tokenHash: string; readonly nowMs: number };
  /** Ends the user's links, and all sessions except this one, if any. A new password ends passkey-only sign-in. */
  readonly endsAccess?: { readonly exceptSessionId: string | null };
  /** Removes the authenticator app, all passkeys and all recovery codes. */
  readonly removesSecondFactors?: boolean;
}

/** Outcome of accepting an invitation. `gone`: used, withdrawn or expired. `full`: the account or user has no room. */
export type Acceptance = 'accepted' | 'gone' | 'other_user' | 'full';

export interface PeopleStore {
  /** Returns false if any user has this passkey, if the user has the maximum number, or if the guard does not hold. */
  addPasskey(passkey: Passkey, guard?: UserGuard): Promise<boolean>;
  /** Returns the user's passkeys, oldest first. */
  listPasskeys(userId: string): Promise<readonly Passkey[]>;
  /** Records a use; false for an unknown passkey, a nonzero counter without growth, or a use since `unusedSinceMs`. */
  usePasskey(
    userId: string,
    id: string,
    counter: number,
    atMs: number,
    unusedSinceMs?: number,
  ): Promise<boolean>;
  /** Returns false if the user has no such passkey, or if the guard does not hold. */
  removePasskey(userId: string, id: string, guard?: UserGuard): Promise<boolean>;

  /** Returns false if a user with this email address exists. */
  createUser(user: User): Promise<boolean>;
  findUser(userId: string): Promise<User | null>;
  /** Returns the user with this email address, normalized by `parseUserEmail`; null if there is none. */
  findUserByEmail(email: string): Promise<User | null>;
  listUsers(limit: number): Promise<readonly User[]>;
  /** Returns null and changes nothing if the user is unknown, the guard does not hold, or the link is not valid. */
  updateUser(userId: string, change: UserChange, options?: UserChangeOptions): Promise<User | null>;

  /** Marks a TOTP time step as used. Returns false if this step or a later one is already used. */
  consumeTotpStep(userId: string, step: number): Promise<boolean>;
  /** Replaces the hashes of the recovery codes. Returns false if the guard does not hold. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[], guard?: UserGuard): Promise<boolean>;
  /** Deletes the recovery code that has one of the hashes. Returns false if there is none. */
  consumeRecoveryCode(userId: string, hashes: readonly string[]): Promise<boolean>;

  /** Grants or changes a role. Returns false if the account or the user has the maximum number of memberships. */
  putMembership(membership: Membership): Promise<boolean>;
  /** Uses up an invitation, creates a missing user, adds the membership and ends the user's links, atomically. */
  acceptInvitation(
    membership: Membership,
    user: User,
    invitation: { readonly tokenHash: string; readonly nowMs: number },
  ): Promise<Acceptance>;
  /** Returns the user's memberships, oldest first. */
  listMemberships(userId: string): Promise<readonly Membership[]>;
  /** Returns the account's members, oldest first. */
  listMembers(accountId: string): Promise<readonly Member[]>;
  /** Changes a role; null ends the membership. Refuses if the account would lose its last owner. */
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
  /** `forgotten`: password link that anyone may request. `connect`: code for an API key (`connect-shop.ts`). */
  readonly kind: 'password' | 'forgotten' | 'invitation' | 'connect';
  readonly email: string;
  /** User whose password the link sets, or who approved the connection; null for an invitation. */
  readonly userId: string | null;
  /** Account of an invitation. Like `role`, null for other kinds. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Maximum `forgotten` links of a user. A further link evicts the oldest. Rate limits allow fewer emails per day. */
export const MAXIMUM_FORGOTTEN_LINKS = 100;
/** Maximum open invitations of an account. A further invitation evicts the oldest. */
export const MAXIMUM_INVITATIONS = 50;

export interface SessionStore {
  /** Stores a session and evicts the oldest beyond `MAXIMUM_SESSIONS`. Open and pending sessions count separately. */
  createSession(session: DashboardSession, guard?: UserGuard): Promise<boolean>;
  /** Returns the session with this token hash, even if it has expired. */
  findSession(tokenHash: string): Promise<DashboardSession | null>;
  /** Returns the user's sessions in all stages, newest first, including expired sessions. */
  listSessions(userId: string): Promise<readonly DashboardSession[]>;
  touchSession(id: string, lastSeenAtMs: number): Promise<void>;
  chooseAccount(id: string, accountId: string): Promise<void>;
  /** Stores a challenge to sign, or a secret for the next page. Evicts the oldest beyond `MAXIMUM_CHALLENGES`. */
  keepChallenge(id: string, purpose: string, challenge: string): Promise<void>;
  takeChallenge(id: string, purpose: string): Promise<string | null>;
  endSession(userId: string, id: string): Promise<boolean>;

  /** Stores a link and evicts the oldest beyond the maximum. All kinds but `forgotten` end the user's earlier links. */
  createLink(link: OneTimeLink): Promise<void>;
  /** Returns the link with this token hash, even if it has expired. */
  findLink(tokenHash: string): Promise<OneTimeLink | null>;
  /** Removes and returns a link; null if it is unknown, used or expired. */
  takeLink(tokenHash: string, nowMs: number): Promise<OneTimeLink | null>;
  /** Ends all of the user's password links and connection codes. */
  endLinks(userId: string): Promise<void>;
  /** Returns an account's unexpired invitations, newest first. */
  listInvitations(accountId: string, nowMs: number): Promise<readonly OneTimeLink[]>;
  removeInvitation(accountId: string, id: string): Promise<boolean>;
}

export type AuditPosition = Pick<AuditEntry, 'atMs' | 'accountId' | 'position'>;

/** Time range from `fromMs` (inclusive) to `beforeMs` (exclusive). */
export interface AuditRange {
  readonly fromMs?: number | undefined;
  readonly beforeMs?: number | undefined;
}

export interface AuditStore {
  /** Adds an entry, or counts a repeat of a merged action. Removes each action's oldest entries beyond its maximum. */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** Deletes up to `limit` old entries. Returns how many. Keeps each account's newest, to continue its numbering. */
  deleteEntriesBefore(beforeMs: number, limit: number): Promise<number>;
  /** Returns entries of an account, or of all accounts if null, newest first, after the entry `before`, if any. */
  listEntries(
    accountId: string | null,
    before: AuditPosition | null,
    limit: number,
    range?: AuditRange,
  ): Promise<readonly AuditEntry[]>;
}

/**
 * Kinds of records. `opened`: a customer opened a checkout for the first time. `dismissed`: a member dismissed alerts.
 * `settled`: merchant's note on how a payment was settled with the customer, who does not see the note.
 */
export type RecordKind = 'opened' | 'dismissed' | 'settled';

/** Dashboard data stored separately from payments. `name` is a payment id or the name of a group of alerts. */
export interface AccountRecord {
  readonly accountId: string;
  readonly kind: RecordKind;
  readonly name: string;
  readonly texts: readonly string[];
  readonly atMs: number;
}

export interface RecordStore {
  /** Adds records, except those whose kind and name exist already. */
  addRecords(records: readonly AccountRecord[]): Promise<void>;
  replaceRecord(record: AccountRecord): Promise<void>;
  /** Returns at most the newest thousand records of a kind; with `names`, only those with these names. */
  listRecords(
    accountId: string,
    kind: RecordKind,
    names?: readonly string[],
  ): Promise<readonly AccountRecord[]>;
}
