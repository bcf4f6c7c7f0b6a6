import type {
  Acceptance,
  AuditStore,
  PeopleStore,
  UserChange,
  UserChangeOptions,
  UserGuard,
} from '../accounts/account-store.ts';
import {
  type AuditEntry,
  countRepeat,
  MAXIMUM_ENTRIES_OF_ACTION,
  MERGE_MS,
  mergedActions,
  type NewAuditEntry,
} from '../accounts/audit-entry.ts';
import {
  MAXIMUM_MEMBERS,
  MAXIMUM_MEMBERSHIPS,
  MAXIMUM_PASSKEYS,
  type Member,
  type Membership,
  type User,
} from '../accounts/person.ts';
import {
  countOf,
  type Fragment,
  hasRow,
  lock,
  type Rows,
  raw,
  run,
  runForOne,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import type { StoredFeature } from './stored-feature.ts';
import { auditTable, membershipTable, passkeyTable, userTable } from './tables.ts';

export function createPeopleStore({ read, write }: Scripts, features: readonly StoredFeature[]): PeopleStore {
  return {
    createUser: write(createUser),
    findUser: read((userId) => findUser('id', userId)),
    findUserByEmail: read((email) => findUser('email', email)),
    listUsers: read((limit) => userTable.select`ORDER BY email LIMIT ${limit}`),
    updateUser: write(updateUser),
    consumeTotpStep: write(function* (userId, step) {
      // Locks the user, because a concurrent update writes all fields and would restore the old step.
      yield* lock(`user ${userId}`);
      return yield* hasRow`
        UPDATE users SET totp_step = ${step} WHERE id = ${userId} AND totp_step < ${step} RETURNING id`;
    }),
    replaceRecoveryCodes: write(function* (userId, hashes, guard) {
      if (!(yield* holdUser(userId, guard))) return false;
      yield* run`DELETE FROM recovery_codes WHERE user_id = ${userId}`;
      for (const hash of hashes) {
        yield* run`INSERT INTO recovery_codes (user_id, hash) VALUES (${userId}, ${hash})`;
      }
      return true;
    }),
    consumeRecoveryCode: write(function* (userId, hashes) {
      for (const hash of hashes) {
        const isSpent = yield* hasRow`
          DELETE FROM recovery_codes WHERE user_id = ${userId} AND hash = ${hash} RETURNING hash`;
        if (isSpent) return true;
      }
      return false;
    }),
    putMembership: write(putMembership),
    acceptInvitation: write(acceptInvitation),
    listMemberships: read(
      (userId) => membershipTable.select`WHERE user_id = ${userId} ORDER BY created_at_ms, account_id`,
    ),
    listMembers: read(listMembers),
    changeMembership: write(function* (accountId, userId, role) {
      yield* lockMembers(accountId);
      const members = yield* listMembers(accountId);
      const member = members.find((candidate) => candidate.userId === userId);
      if (member === undefined) return 'unknown';
      const otherOwners = members.filter((other) => other.role === 'owner' && other.userId !== userId);
      if (member.role === 'owner' && role !== 'owner' && otherOwners.length === 0) return 'last_owner';
      if (role === null)
        for (const feature of features) yield* feature.memberRemoved?.(accountId, userId) ?? [];
      yield* role === null
        ? run`DELETE FROM memberships WHERE account_id = ${accountId} AND user_id = ${userId}`
        : run`UPDATE memberships SET role = ${role} WHERE account_id = ${accountId} AND user_id = ${userId}`;
      return 'changed';
    }),
    addPasskey: write(function* (passkey, guard) {
      const { userId } = passkey;
      if (!(yield* holdUser(userId, guard))) return false;
      if ((yield* countOf`passkeys WHERE user_id = ${userId}`) >= MAXIMUM_PASSKEYS) return false;
      const made = yield* passkeyTable.insert(passkey, 'ON CONFLICT (id) DO NOTHING RETURNING id');
      return made.length === 1;
    }),
    listPasskeys: read((userId) => passkeyTable.select`WHERE user_id = ${userId} ORDER BY created_at_ms, id`),
    usePasskey: write(
      (userId, id, counter, atMs, unusedSinceMs = AFTER_ALL) => hasRow`
        UPDATE passkeys SET counter = ${counter}, last_used_at_ms = ${atMs}
        WHERE user_id = ${userId} AND id = ${id} AND coalesce(last_used_at_ms, 0) < ${unusedSinceMs}
          AND (counter < ${counter} ${counter === 0 ? raw('OR counter = 0') : raw('')}) RETURNING id`,
    ),
    removePasskey: write(function* (userId, id, guard) {
      if (!(yield* holdUser(userId, guard))) return false;
      return yield* hasRow`DELETE FROM passkeys WHERE user_id = ${userId} AND id = ${id} RETURNING id`;
    }),
  };
}

function findUser(column: 'id' | 'email', value: string): Script<User | null> {
  return userTable.selectOne`WHERE ${raw(column)} = ${value}`;
}

/** Locks a user for a write. Returns whether the guard, checked before the transaction, still holds. */
export function* holdUser(userId: string, guard?: UserGuard): Script<boolean> {
  yield* lock(`user ${userId}`);
  if (guard === undefined) return true;
  const user = yield* findUser('id', userId);
  if (user?.passwordHash !== guard.user.passwordHash || user.isOperator !== guard.user.isOperator)
    return false;
  if (guard.sessionId === null) return true;
  return yield* hasRow`
    SELECT id FROM dashboard_sessions WHERE id = ${guard.sessionId} AND user_id = ${userId}`;
}

function* updateUser(
  userId: string,
  change: UserChange,
  { guard, link, endsAccess, removesSecondFactors = false }: UserChangeOptions = {},
): Script<User | null> {
  const isHeld = yield* holdUser(userId, guard);
  const user = yield* findUser('id', userId);
  if (user === null || !isHeld) return null;
  if (link !== undefined) {
    const taken = yield* run`
      DELETE FROM one_time_links
      WHERE token_hash = ${link.tokenHash} AND user_id = ${userId} AND expires_at_ms > ${link.nowMs}
      RETURNING id`;
    if (taken.length === 0) return null;
  }
  const changed = { ...user, ...change, ...(removesSecondFactors ? { totpSecret: null } : {}) };
  yield* userTable.update(changed);
  if (removesSecondFactors) {
    yield* run`DELETE FROM passkeys WHERE user_id = ${userId}`;
    yield* run`DELETE FROM recovery_codes WHERE user_id = ${userId}`;
  }
  if (endsAccess !== undefined) {
    yield* run`
      DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND id <> ${endsAccess.exceptSessionId ?? ''}`;
    yield* run`DELETE FROM one_time_links WHERE user_id = ${userId}`;
    // Requires the password again with each passkey, because a thief of the old password may have added one.
    if (change.passwordHash !== undefined)
      yield* run`UPDATE passkeys SET is_passwordless = 0 WHERE user_id = ${userId}`;
  }
  return changed;
}

/** Creates a user; false if the email address is taken. Locks the address, because invitations check it first. */
function* createUser(user: User): Script<boolean> {
  yield* lock(`address ${user.email}`);
  const made = yield* userTable.insert(user, 'ON CONFLICT (email) DO NOTHING RETURNING id');
  return made.length === 1;
}

/** Accepts an invitation. Makes all checks before the first write, so that a refusal writes nothing. */
function* acceptInvitation(
  membership: Membership,
  user: User,
  { tokenHash, nowMs }: { readonly tokenHash: string; readonly nowMs: number },
): Script<Acceptance> {
  const { accountId, userId } = membership;
  yield* lockMembers(accountId);
  yield* lock(`address ${user.email}`);
  const known = yield* findUser('email', user.email);
  if (known !== null && known.id !== userId) return 'other_user';
  if (!(yield* hasRoom(membership))) return 'full';
  const isTaken = yield* hasRow`
    DELETE FROM one_time_links
    WHERE token_hash = ${tokenHash} AND kind = 'invitation' AND account_id = ${accountId}
      AND expires_at_ms > ${nowMs} RETURNING id`;
  if (!isTaken) return 'gone';
  if (known === null) yield* createUser(user);
  yield* putMembership(membership);
  // Ends the user's links, because a link issued for fewer rights must not give access to the new rights.
  yield* run`DELETE FROM one_time_links WHERE user_id = ${userId}`;
  return 'accepted';
}

export function lockMembers(accountId: string): Script<void> {
  return lock(`members of ${accountId}`);
}

function* putMembership(membership: Membership): Script<boolean> {
  yield* lockMembers(membership.accountId);
  if (!(yield* hasRoom(membership))) return false;
  yield* membershipTable.insert(
    membership,
    'ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role',
  );
  return true;
}

function* hasRoom({ accountId, userId }: Membership): Script<boolean> {
  const others = (condition: Fragment) => countOf`
    memberships WHERE ${condition} AND NOT (account_id = ${accountId} AND user_id = ${userId})`;
  return (
    (yield* others(sql`account_id = ${accountId}`)) < MAXIMUM_MEMBERS &&
    (yield* others(sql`user_id = ${userId}`)) < MAXIMUM_MEMBERSHIPS
  );
}

function* listMembers(accountId: string): Script<readonly Member[]> {
  const rows: Rows = yield* run`
    SELECT ${raw(membershipTable.qualifiedNames)}, users.email,
      CASE WHEN users.totp_secret IS NULL
        AND NOT EXISTS (SELECT 1 FROM passkeys WHERE passkeys.user_id = users.id)
        THEN 0 ELSE 1 END AS has_second_factor
    FROM memberships JOIN users ON users.id = memberships.user_id
    WHERE memberships.account_id = ${accountId} ORDER BY memberships.created_at_ms, users.email`;
  return rows.map((row) => ({
    ...membershipTable.ofRow(row),
    email: String(row['email']),
    hasSecondFactor: row['has_second_factor'] === 1,
  }));
}

const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Number of added entries after which each action's oldest entries beyond the maximum are deleted. */
const REMOVAL_STEP = 100;
/** Number of newest entries to search for an entry that a repeat can be merged into. */
const REPEATS_AMONG = 200;

/** Returns the entry of the last `MERGE_MS` to merge a repeat into; null if there is none. */
function findRepeated(
  { accountId, action, actor, atMs }: NewAuditEntry,
  last: number,
): Script<AuditEntry | null> {
  return auditTable.selectOne`
    WHERE account_id = ${accountId} AND position > ${last - REPEATS_AMONG}
      AND action = ${action} AND actor = ${actor} AND at_ms > ${atMs - MERGE_MS}
    ORDER BY position DESC LIMIT 1`;
}

export function createAuditStore({ read, write }: Scripts): AuditStore {
  return {
    appendEntry: write(function* (entry) {
      const { accountId } = entry;
      yield* lock(`audit log of ${accountId}`);
      const newest = yield* runForOne<{ position: number }>`
        SELECT coalesce(max(position), 0) AS position FROM audit_entries WHERE account_id = ${accountId}`;
      const last = newest?.position ?? 0;
      const earlier = mergedActions.has(entry.action) ? yield* findRepeated(entry, last) : null;
      if (earlier !== null) {
        yield* run`
          UPDATE audit_entries SET address = ${entry.address}, target = ${countRepeat(earlier.target)}
          WHERE account_id = ${accountId} AND position = ${earlier.position}`;
        return;
      }
      yield* auditTable.insert({ ...entry, position: last + 1 });
      // Deletes only after every `REMOVAL_STEP` entries, because the statement reads the account's whole log.
      if ((last + 1) % REMOVAL_STEP === 0)
        yield* run`
          DELETE FROM audit_entries WHERE account_id = ${accountId} AND position IN (
            SELECT position FROM (
              SELECT position, row_number() OVER (PARTITION BY action ORDER BY position DESC) AS place
              FROM audit_entries WHERE account_id = ${accountId}
            ) AS ranked WHERE place > ${MAXIMUM_ENTRIES_OF_ACTION})`;
    }),
    deleteEntriesBefore: write(function* (beforeMs, limit) {
      const deleted = yield* run`
        DELETE FROM audit_entries WHERE (account_id, position) IN (
          SELECT account_id, position FROM audit_entries AS old WHERE at_ms < ${beforeMs} AND position < (
            SELECT max(position) FROM audit_entries AS newest WHERE newest.account_id = old.account_id)
          ORDER BY at_ms, account_id, position LIMIT ${limit}) RETURNING position`;
      return deleted.length;
    }),
    listEntries: read((accountId, before, limit, { fromMs = 0, beforeMs = AFTER_ALL } = {}) => {
      if (accountId !== null)
        return auditTable.select`
          WHERE account_id = ${accountId} AND position < ${before?.position ?? AFTER_ALL}
            AND at_ms >= ${fromMs} AND at_ms < ${beforeMs} ORDER BY position DESC LIMIT ${limit}`;
      const last = before ?? { atMs: beforeMs, accountId: '', position: 0 };
      return auditTable.select`
        WHERE (at_ms, account_id, position) < (${last.atMs}, ${last.accountId}, ${last.position}) AND at_ms >= ${fromMs}
        ORDER BY at_ms DESC, account_id DESC, position DESC LIMIT ${limit}`;
    }),
  };
}
