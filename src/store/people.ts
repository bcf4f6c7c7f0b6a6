import { type AuditEntry, MAXIMUM_AUDIT_ENTRIES, type NewAuditEntry } from '../domain/audit-entry.ts';
import { UnknownStateError } from '../domain/errors.ts';
import {
  isRole,
  MAXIMUM_MEMBERS,
  MAXIMUM_MEMBERSHIPS,
  MAXIMUM_PASSKEYS,
  type Member,
  type Membership,
  type Passkey,
  type Role,
  type User,
} from '../domain/person.ts';
import type {
  AuditPosition,
  AuditStore,
  PasskeyStore,
  PeopleStore,
  UserChange,
  UserChangeOptions,
  UserGuard,
} from '../domain/ports/account-store.ts';
import {
  changesOne,
  count,
  insert,
  lock,
  type Rows,
  run,
  runForOne,
  type Script,
  type Scripts,
  select,
  selectOne,
  update,
} from './scripts.ts';
import { checkListLimit } from './store.ts';
import { auditTable, membershipTable, passkeyTable, userTable } from './tables.ts';

/** Users and memberships, on any engine. */
export function createPeopleStore(scripts: Scripts): PeopleStore {
  return {
    createUser: (user) => scripts.write(() => createUser(user)),
    findUser: (userId) => scripts.read(() => findUser('id', userId)),
    findUserByEmail: (email) => scripts.read(() => findUser('email', email)),
    listUsers: (limit) => scripts.read(() => select(userTable, 'ORDER BY email LIMIT ?1', limit)),
    updateUser: (userId, change, options) => scripts.write(() => updateUser(userId, change, options)),
    spendTotpStep: (userId, step) =>
      scripts.write(function* () {
        const sql = 'UPDATE users SET totp_step = ?1 WHERE id = ?2 AND totp_step < ?1 RETURNING id';
        return yield* changesOne(sql, step, userId);
      }),
    replaceRecoveryCodes: (userId, hashes, guard) =>
      scripts.write(() => replaceRecoveryCodes(userId, hashes, guard)),
    spendRecoveryCode: (userId, hashes) => scripts.write(() => spendRecoveryCode(userId, hashes)),
    putMembership: (membership) => scripts.write(() => putMembership(membership)),
    listMemberships: (userId) =>
      scripts.read(function* () {
        const found = yield* select(
          membershipTable,
          'WHERE user_id = ?1 ORDER BY created_at_ms, account_id',
          userId,
        );
        return found.map(requireKnownRole);
      }),
    listMembers: (accountId) => scripts.read(() => listMembers(accountId)),
    changeMembership: (accountId, userId, role) =>
      scripts.write(() => changeMembership(accountId, userId, role)),
    ...createPasskeyStore(scripts),
  };
}

function* createUser(user: User): Script<boolean> {
  const made = yield* insert(userTable, user, 'ON CONFLICT (email) DO NOTHING RETURNING id');
  return made.length === 1;
}

function findUser(column: 'id' | 'email', value: string): Script<User | null> {
  return selectOne(userTable, `WHERE ${column} = ?1`, value);
}

/** Whether what was checked before a write still holds. The caller holds the lock of the user. */
export function* isGuardMet(userId: string, guard: UserGuard | undefined): Script<boolean> {
  if (guard === undefined) return true;
  const user = yield* findUser('id', userId);
  if (user?.passwordHash !== guard.user.passwordHash || user.isOperator !== guard.user.isOperator)
    return false;
  if (guard.sessionId === null) return true;
  const sql = 'SELECT id FROM dashboard_sessions WHERE id = ?1 AND user_id = ?2';
  return (yield* runForOne(sql, guard.sessionId, userId)) !== null;
}

function* updateUser(
  userId: string,
  change: UserChange,
  { guard, link, endsAccess, removesSecondFactors = false }: UserChangeOptions = {},
): Script<User | null> {
  yield* lock(`user ${userId}`);
  const user = yield* findUser('id', userId);
  if (user === null || !(yield* isGuardMet(userId, guard))) return null;
  if (link !== undefined) {
    const sql =
      'DELETE FROM one_time_links WHERE token_hash = ?1 AND user_id = ?2 AND expires_at_ms > ?3 RETURNING id';
    if ((yield* run(sql, link.tokenHash, userId, link.nowMs)).length === 0) return null;
  }
  const changed = { ...user, ...change, ...(removesSecondFactors ? { totpSecret: null } : {}) };
  yield* update(userTable, changed);
  if (removesSecondFactors) {
    yield* run('DELETE FROM passkeys WHERE user_id = ?1', userId);
    yield* run('DELETE FROM recovery_codes WHERE user_id = ?1', userId);
  }
  if (endsAccess !== undefined) {
    const sql = 'DELETE FROM dashboard_sessions WHERE user_id = ?1 AND id <> ?2';
    yield* run(sql, userId, endsAccess.exceptSessionId ?? '');
    yield* run('DELETE FROM one_time_links WHERE user_id = ?1', userId);
  }
  return changed;
}

function* replaceRecoveryCodes(
  userId: string,
  hashes: readonly string[],
  guard: UserGuard | undefined,
): Script<boolean> {
  yield* lock(`user ${userId}`);
  if (!(yield* isGuardMet(userId, guard))) return false;
  yield* run('DELETE FROM recovery_codes WHERE user_id = ?1', userId);
  for (const hash of hashes) {
    yield* run('INSERT INTO recovery_codes (user_id, hash) VALUES (?1, ?2)', userId, hash);
  }
  return true;
}

function* spendRecoveryCode(userId: string, hashes: readonly string[]): Script<boolean> {
  for (const hash of hashes) {
    const sql = 'DELETE FROM recovery_codes WHERE user_id = ?1 AND hash = ?2 RETURNING hash';
    if (yield* changesOne(sql, userId, hash)) return true;
  }
  return false;
}

function* putMembership(membership: Membership): Script<boolean> {
  const { accountId, userId } = membership;
  yield* lock(`members of ${accountId}`);
  const others = (columns: string) =>
    count(
      `FROM memberships WHERE ${columns} = ?1 AND NOT (account_id = ?2 AND user_id = ?3)`,
      columns === 'account_id' ? accountId : userId,
      accountId,
      userId,
    );
  if ((yield* others('account_id')) >= MAXIMUM_MEMBERS) return false;
  if ((yield* others('user_id')) >= MAXIMUM_MEMBERSHIPS) return false;
  yield* insert(
    membershipTable,
    membership,
    'ON CONFLICT (account_id, user_id) DO UPDATE SET role = excluded.role',
  );
  return true;
}

function* listMembers(accountId: string): Script<readonly Member[]> {
  const rows: Rows = yield* run(
    `SELECT ${membershipTable.qualifiedNames}, users.email,
       CASE WHEN users.totp_secret IS NULL
         AND NOT EXISTS (SELECT 1 FROM passkeys WHERE passkeys.user_id = users.id) THEN 0 ELSE 1 END AS has_second_factor
     FROM memberships JOIN users ON users.id = memberships.user_id
     WHERE memberships.account_id = ?1 ORDER BY memberships.created_at_ms, users.email`,
    accountId,
  );
  return rows.map((row) => ({
    ...requireKnownRole(membershipTable.ofRow(row)),
    email: String(row['email']),
    hasSecondFactor: row['has_second_factor'] === 1,
  }));
}

function* changeMembership(
  accountId: string,
  userId: string,
  role: Role | null,
): Script<'changed' | 'unknown' | 'last_owner'> {
  yield* lock(`members of ${accountId}`);
  const members = yield* listMembers(accountId);
  const member = members.find((candidate) => candidate.userId === userId);
  if (member === undefined) return 'unknown';
  const otherOwners = members.filter((other) => other.role === 'owner' && other.userId !== userId);
  if (member.role === 'owner' && role !== 'owner' && otherOwners.length === 0) return 'last_owner';
  if (role === null) {
    yield* run('DELETE FROM memberships WHERE account_id = ?1 AND user_id = ?2', accountId, userId);
  } else {
    yield* run(
      'UPDATE memberships SET role = ?1 WHERE account_id = ?2 AND user_id = ?3',
      role,
      accountId,
      userId,
    );
  }
  return 'changed';
}

/** A role that this version does not know is an error, as guessing would change rights. */
function requireKnownRole(membership: Membership): Membership {
  if (!isRole(membership.role))
    throw new UnknownStateError(`a member has the role ${membership.role}, which does not exist`);
  return membership;
}

/** Passkeys, on any engine. */
function createPasskeyStore(scripts: Scripts): PasskeyStore {
  return {
    addPasskey: (passkey, guard) => scripts.write(() => addPasskey(passkey, guard)),
    listPasskeys: (userId) =>
      scripts.read(() => select(passkeyTable, 'WHERE user_id = ?1 ORDER BY created_at_ms, id', userId)),
    usePasskey: (userId, id, counter, atMs) =>
      scripts.write(() =>
        changesOne(
          `UPDATE passkeys SET counter = ?1, last_used_at_ms = ?2
           WHERE user_id = ?3 AND id = ?4 AND (counter < ?1 OR (counter = 0 AND ?1 = 0)) RETURNING id`,
          counter,
          atMs,
          userId,
          id,
        ),
      ),
    removePasskey: (userId, id, guard) =>
      scripts.write(function* () {
        yield* lock(`user ${userId}`);
        if (!(yield* isGuardMet(userId, guard))) return false;
        const sql = 'DELETE FROM passkeys WHERE user_id = ?1 AND id = ?2 RETURNING id';
        return yield* changesOne(sql, userId, id);
      }),
  };
}

function* addPasskey(passkey: Passkey, guard: UserGuard | undefined): Script<boolean> {
  const { userId } = passkey;
  yield* lock(`user ${userId}`);
  if (!(yield* isGuardMet(userId, guard))) return false;
  if ((yield* count('FROM passkeys WHERE user_id = ?1', userId)) >= MAXIMUM_PASSKEYS) return false;
  const made = yield* insert(passkeyTable, passkey, 'ON CONFLICT (id) DO NOTHING RETURNING id');
  return made.length === 1;
}

/** Sorts after every position. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** The audit log, on any engine. */
export function createAuditStore(scripts: Scripts): AuditStore {
  return {
    appendEntry: (entry) => scripts.write(() => appendEntry(entry)),
    listEntries: (accountId, before, limit) =>
      scripts.read(function* () {
        checkListLimit(limit);
        return yield* select(
          auditTable,
          'WHERE account_id = ?1 AND position < ?2 ORDER BY position DESC LIMIT ?3',
          accountId,
          before ?? AFTER_ALL,
          limit,
        );
      }),
    listAllEntries: (before, limit) => scripts.read(() => listAllEntries(before, limit)),
  };
}

function* listAllEntries(before: AuditPosition | null, limit: number): Script<readonly AuditEntry[]> {
  checkListLimit(limit);
  const { atMs, accountId, position } = before ?? { atMs: AFTER_ALL, accountId: '', position: AFTER_ALL };
  return yield* select(
    auditTable,
    `WHERE (at_ms, account_id, position) < (?1, ?2, ?3)
     ORDER BY at_ms DESC, account_id DESC, position DESC LIMIT ?4`,
    atMs,
    accountId,
    position,
    limit,
  );
}

function* appendEntry(entry: NewAuditEntry): Script<void> {
  const { accountId } = entry;
  yield* lock(`audit log of ${accountId}`);
  const newest = yield* runForOne<{ position: number }>(
    'SELECT coalesce(max(position), 0) AS position FROM audit_entries WHERE account_id = ?1',
    accountId,
  );
  const position = (newest?.position ?? 0) + 1;
  yield* insert(auditTable, { ...entry, position });
  yield* run(
    'DELETE FROM audit_entries WHERE account_id = ?1 AND position <= ?2',
    accountId,
    position - MAXIMUM_AUDIT_ENTRIES,
  );
}
