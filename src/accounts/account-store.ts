import type { Account, AccountChange, ActiveKey, ApiKey } from './account.ts';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';
import type { Member, Membership, Passkey, Role, User } from './person.ts';
import type { DashboardSession } from './session-lifetimes.ts';
import type { ShopLogo } from './shop-profile.ts';

export interface AccountQuery {
  /** Part of the name or email address, or the whole id; null matches all. Ignores case, at least in Latin letters. */
  readonly search: string | null;
  /** Accounts created before this one; null starts with the newest. */
  readonly before: Pick<Account, 'id' | 'createdAtMs'> | null;
}

export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  findAccount(accountId: string): Promise<Account | null>;
  listAccounts(): Promise<readonly Account[]>;
  /** Returns matching accounts, newest first. */
  searchAccounts(query: AccountQuery, limit: number): Promise<readonly Account[]>;
  /** Runs `change` within the transaction if it is a function. */
  updateAccount(
    accountId: string,
    change: AccountChange | ((account: Account) => AccountChange),
  ): Promise<Account | null>;
  /** Returns the logo with this hash if an account currently shows it; otherwise null. */
  findLogo(hash: string): Promise<ShopLogo | null>;

  /** Returns false when the account already has `maximumActive` keys, as checked within the transaction. */
  createKey(key: ApiKey, maximumActive: number): Promise<boolean>;
  listKeys(accountId: string): Promise<readonly ApiKey[]>;
  /** Revokes a key immediately; null for an unknown key. A repeated call keeps the original time. */
  revokeKey(keyId: string, revokedAtMs: number): Promise<ApiKey | null>;
  recordKeyUses(hashes: readonly string[], atMs: number): Promise<void>;
  /** Returns the active key with this SHA-256, or null. A change to the key or account takes effect immediately. */
  findActiveKey(hash: string): Promise<ActiveKey | null>;
}

export type UserChange = Partial<Pick<User, 'passwordHash' | 'totpSecret' | 'totpStep' | 'isOperator'>>;

/** State that was checked before a write and must still hold within its transaction. */
export interface UserGuard {
  readonly user: Pick<User, 'passwordHash' | 'isOperator'>;
  /** Session that must still exist; null requires none. */
  readonly sessionId: string | null;
}

/** Conditions and consequences of a change to a user, all in one transaction. */
export interface UserChangeOptions {
  readonly guard?: UserGuard;
  /** The user's link that the change uses up. Nothing changes if the link is already used or expired. */
  readonly link?: { readonly tokenHash: string; readonly nowMs: number };
  /** Ends links and all sessions except this one; null exempts none. A new password ends passkey-only sign-in. */
  readonly endsAccess?: { readonly exceptSessionId: string | null };
  /** Removes the authenticator app, all passkeys and all recovery codes. */
  readonly removesSecondFactors?: boolean;
}

/** Outcome of an invitation. `gone`: used, withdrawn or expired. `full`: a maximum of memberships is reached. */
export type Acceptance = 'accepted' | 'gone' | 'other_user' | 'full';

export interface PeopleStore {
  /** Returns false when a user already has this passkey, the user has the maximum, or the guard does not hold. */
  addPasskey(passkey: Passkey, guard?: UserGuard): Promise<boolean>;
  /** Returns the user's passkeys, oldest first. */
  listPasskeys(userId: string): Promise<readonly Passkey[]>;
  /** Returns false for an unknown passkey, a nonzero count that has not grown, or a use since `unusedSinceMs`. */
  usePasskey(
    userId: string,
    id: string,
    counter: number,
    atMs: number,
    unusedSinceMs?: number,
  ): Promise<boolean>;
  /** Returns false when the user has no such passkey, or the guard does not hold. */
  removePasskey(userId: string, id: string, guard?: UserGuard): Promise<boolean>;

  /** Returns false when a user with this email address exists. */
  createUser(user: User): Promise<boolean>;
  findUser(userId: string): Promise<User | null>;
  /** Finds a user by an email address as `parseUserEmail` returns it. */
  findUserByEmail(email: string): Promise<User | null>;
  listUsers(limit: number): Promise<readonly User[]>;
  /** Returns null, without a change, for an unknown user, a guard that does not hold, or a used or expired link. */
  updateUser(userId: string, change: UserChange, options?: UserChangeOptions): Promise<User | null>;

  /** Uses up a time step of the second factor; false when it or a later step is already used. */
  consumeTotpStep(userId: string, step: number): Promise<boolean>;
  /** Replaces the hashes of the recovery codes. Returns false when the guard does not hold. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[], guard?: UserGuard): Promise<boolean>;
  /** Uses up the recovery code with one of the hashes; false when there is none. */
  consumeRecoveryCode(userId: string, hashes: readonly string[]): Promise<boolean>;

  /** Grants or changes a role; false when the account or the user already has the maximum. */
  putMembership(membership: Membership): Promise<boolean>;
  /** Uses up an invitation, creates a missing user, adds the membership and ends the user's links; all or nothing. */
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
  /** `forgotten`: anyone may request it. `connect`: exchanged for an API key (`features/connect/connect-shop.ts`). */
  readonly kind: 'password' | 'forgotten' | 'invitation' | 'connect';
  readonly email: string;
  /** User whose password the link sets, or who approved the connection; null for an invitation. */
  readonly userId: string | null;
  /** Account of an invitation. Null for other links, as is `role`. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Maximum `forgotten` links of a user; another one deletes the oldest. The rate limit allows fewer emails per day. */
export const MAXIMUM_FORGOTTEN_LINKS = 100;
/** Maximum open invitations of an account; another one deletes the oldest. */
export const MAXIMUM_INVITATIONS = 50;

export interface SessionStore {
  /** Starts a session and removes the oldest beyond `MAXIMUM_SESSIONS`. Open and pending sessions count separately. */
  createSession(session: DashboardSession, guard?: UserGuard): Promise<boolean>;
  /** Finds a session by its token's hash, even if expired. */
  findSession(tokenHash: string): Promise<DashboardSession | null>;
  /** Returns the user's sessions in any stage, newest first, including expired ones. */
  listSessions(userId: string): Promise<readonly DashboardSession[]>;
  touchSession(id: string, lastSeenAtMs: number): Promise<void>;
  chooseAccount(id: string, accountId: string): Promise<void>;
  /** Stores a challenge to sign or a secret for the next page. Removes the oldest beyond `MAXIMUM_CHALLENGES`. */
  keepChallenge(id: string, purpose: string, challenge: string): Promise<void>;
  takeChallenge(id: string, purpose: string): Promise<string | null>;
  endSession(userId: string, id: string): Promise<boolean>;

  /** Stores a link. All kinds but `forgotten` end the user's earlier links. Removes the oldest beyond the maximum. */
  createLink(link: OneTimeLink): Promise<void>;
  /** Finds a link by its token's hash, even if expired. */
  findLink(tokenHash: string): Promise<OneTimeLink | null>;
  /** Removes and returns a link; null if it is unknown, used or expired. */
  takeLink(tokenHash: string, nowMs: number): Promise<OneTimeLink | null>;
  /** Ends all of the user's links: password links and connection codes. */
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
  /** Adds an entry or counts a repeat of one of the `mergedActions`. Removes the oldest beyond an action's maximum. */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** Deletes up to `limit` old entries and returns how many. Keeps each account's newest, to continue its numbering. */
  deleteEntriesBefore(beforeMs: number, limit: number): Promise<number>;
  /** Returns entries of an account, or of all (null), newest first. `before` is the last one already read, or null. */
  listEntries(
    accountId: string | null,
    before: AuditPosition | null,
    limit: number,
    range?: AuditRange,
  ): Promise<readonly AuditEntry[]>;
}

/**
 * Kinds of records. `opened`: a customer first opened a checkout. `dismissed`: alerts that a member dismissed.
 * `settled`: how and by whom a payment was settled between merchant and customer; not shown to the customer.
 */
export type RecordKind = 'opened' | 'dismissed' | 'settled';

/** Dashboard data stored outside payments. `name` is a payment id or a group of alerts. */
export interface AccountRecord {
  readonly accountId: string;
  readonly kind: RecordKind;
  readonly name: string;
  readonly texts: readonly string[];
  readonly atMs: number;
}

export interface RecordStore {
  /** Adds records, but keeps existing ones of the same kind and name. */
  addRecords(records: readonly AccountRecord[]): Promise<void>;
  replaceRecord(record: AccountRecord): Promise<void>;
  /** Returns existing records with these names; without `names`, the newest thousand of the kind. */
  listRecords(
    accountId: string,
    kind: RecordKind,
    names?: readonly string[],
  ): Promise<readonly AccountRecord[]>;
}
