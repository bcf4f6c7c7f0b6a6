import {
  type DashboardSession,
  MAXIMUM_CHALLENGES,
  MAXIMUM_FORGOTTEN_LINKS,
  MAXIMUM_INVITATIONS,
  MAXIMUM_SESSIONS,
  type OneTimeLink,
} from '../domain/dashboard-session.ts';
import type { UserGuard } from '../domain/ports/account-store.ts';
import type { SessionStore } from '../domain/ports/payment-store.ts';
import type { ProviderSession } from '../domain/provider-session.ts';
import { isGuardMet } from './people.ts';
import { lock, run, runForOne, type Script, type Scripts } from './scripts.ts';

const sessionColumns = `id, token_hash AS "tokenHash", user_id AS "userId", account_id AS "accountId", area, stage,
  created_at_ms AS "createdAtMs", last_seen_at_ms AS "lastSeenAtMs", expires_at_ms AS "expiresAtMs", address,
  user_agent AS "userAgent"`;
const linkColumns = `id, token_hash AS "tokenHash", kind, email, user_id AS "userId", account_id AS "accountId", role,
  created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs"`;

/** Sessions and one-time links, on any engine. */
export function createSessionStore(scripts: Scripts): SessionStore {
  return {
    createSession: (session, guard) => scripts.write(() => createSession(session, guard)),
    findSession: (tokenHash) =>
      scripts.read(() =>
        runForOne<DashboardSession>(
          `SELECT ${sessionColumns} FROM dashboard_sessions WHERE token_hash = ?1`,
          tokenHash,
        ),
      ),
    listSessions: (userId) =>
      scripts.read(() =>
        listOf<DashboardSession>(
          `SELECT ${sessionColumns} FROM dashboard_sessions WHERE user_id = ?1 ORDER BY created_at_ms DESC, id`,
          userId,
        ),
      ),
    touchSession: (id, lastSeenAtMs) =>
      writeOne(scripts, 'UPDATE dashboard_sessions SET last_seen_at_ms = ?1 WHERE id = ?2', lastSeenAtMs, id),
    chooseAccount: (id, accountId) =>
      writeOne(scripts, 'UPDATE dashboard_sessions SET account_id = ?1 WHERE id = ?2', accountId, id),
    async keepChallenge(id, purpose, challenge) {
      await scripts.write(() => replaceChallenge(id, purpose, challenge));
    },
    takeChallenge: (id, purpose) => scripts.write(() => replaceChallenge(id, purpose, null)),
    endSession: (userId, id) =>
      wroteOne(
        scripts,
        'DELETE FROM dashboard_sessions WHERE user_id = ?1 AND id = ?2 RETURNING id',
        userId,
        id,
      ),
    ...createLinks(scripts),
  };
}

function* createSession(session: DashboardSession, guard: UserGuard | undefined): Script<boolean> {
  const { id, tokenHash, userId, accountId, area, stage } = session;
  const { createdAtMs, lastSeenAtMs, expiresAtMs, address, userAgent } = session;
  yield* lock(`user ${userId}`);
  if (!(yield* isGuardMet(userId, guard))) return false;
  yield* run(
    'DELETE FROM dashboard_sessions WHERE user_id = ?1 AND expires_at_ms <= ?2',
    userId,
    createdAtMs,
  );
  // Counted separately: a holder of only the password must not end sessions that a second factor has opened.
  const isAlike = stage === 'open' ? "stage = 'open'" : "stage <> 'open'";
  yield* run(
    `DELETE FROM dashboard_sessions WHERE user_id = ?1 AND ${isAlike} AND id NOT IN (
       SELECT id FROM dashboard_sessions WHERE user_id = ?1 AND ${isAlike}
       ORDER BY created_at_ms DESC, id LIMIT ?2)`,
    userId,
    MAXIMUM_SESSIONS - 1,
  );
  yield* run(
    `INSERT INTO dashboard_sessions (id, token_hash, user_id, account_id, area, stage, created_at_ms, last_seen_at_ms,
       expires_at_ms, address, user_agent)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
    id,
    tokenHash,
    userId,
    accountId,
    area,
    stage,
    createdAtMs,
    lastSeenAtMs,
    expiresAtMs,
    address,
    userAgent,
  );
  return true;
}

/** Puts a challenge in the place of the one of the same purpose, and returns that. Null takes it away. */
function* replaceChallenge(id: string, purpose: string, challenge: string | null): Script<string | null> {
  yield* lock(`challenge of ${id}`);
  const row = yield* runForOne<{ challenge: string | null }>(
    'SELECT challenge FROM dashboard_sessions WHERE id = ?1',
    id,
  );
  const kept = challengesOf(row?.challenge ?? null);
  const earlier = kept.find(([of]) => of === purpose)?.[1] ?? null;
  const others = kept.filter(([of]) => of !== purpose);
  const next = challenge === null ? others : [...others, [purpose, challenge] as const];
  const text = next.length === 0 ? null : JSON.stringify(next.slice(-MAXIMUM_CHALLENGES));
  yield* run('UPDATE dashboard_sessions SET challenge = ?1 WHERE id = ?2', text, id);
  return earlier;
}

/** The column holds pairs of purpose and challenge as JSON, the oldest first. Anything else is of an earlier version. */
function challengesOf(column: string | null): readonly (readonly [string, string])[] {
  return column?.startsWith('[') === true ? JSON.parse(column) : [];
}

function createLinks(
  scripts: Scripts,
): Pick<
  SessionStore,
  'createLink' | 'findLink' | 'takeLink' | 'endLinks' | 'listInvitations' | 'removeInvitation'
> {
  return {
    createLink: (link) => scripts.write(() => createLink(link)),
    findLink: (tokenHash) =>
      scripts.read(() =>
        runForOne<OneTimeLink>(`SELECT ${linkColumns} FROM one_time_links WHERE token_hash = ?1`, tokenHash),
      ),
    takeLink: (tokenHash, nowMs) =>
      scripts.write(() =>
        runForOne<OneTimeLink>(
          `DELETE FROM one_time_links WHERE token_hash = ?1 AND expires_at_ms > ?2 RETURNING ${linkColumns}`,
          tokenHash,
          nowMs,
        ),
      ),
    endLinks: (userId) => writeOne(scripts, 'DELETE FROM one_time_links WHERE user_id = ?1', userId),
    listInvitations: (accountId, nowMs) =>
      scripts.read(() =>
        listOf<OneTimeLink>(
          `SELECT ${linkColumns} FROM one_time_links WHERE account_id = ?1 AND expires_at_ms > ?2
           ORDER BY created_at_ms DESC, id`,
          accountId,
          nowMs,
        ),
      ),
    removeInvitation: (accountId, id) =>
      wroteOne(
        scripts,
        'DELETE FROM one_time_links WHERE account_id = ?1 AND id = ?2 RETURNING id',
        accountId,
        id,
      ),
  };
}

function* createLink(link: OneTimeLink): Script<void> {
  const { id, tokenHash, kind, email, userId, accountId, role, createdAtMs, expiresAtMs } = link;
  yield* lock(`links of ${userId ?? accountId}`);
  if (kind === 'forgotten') {
    yield* run(
      `DELETE FROM one_time_links WHERE user_id = ?1 AND kind = 'forgotten' AND id NOT IN (
         SELECT id FROM one_time_links WHERE user_id = ?1 AND kind = 'forgotten' AND expires_at_ms > ?2
         ORDER BY created_at_ms DESC, id LIMIT ?3)`,
      userId,
      createdAtMs,
      MAXIMUM_FORGOTTEN_LINKS - 1,
    );
  } else yield* run('DELETE FROM one_time_links WHERE user_id = ?1', userId);
  yield* run(
    `DELETE FROM one_time_links WHERE account_id = ?1 AND id NOT IN (
       SELECT id FROM one_time_links WHERE account_id = ?1 AND expires_at_ms > ?2
       ORDER BY created_at_ms DESC, id LIMIT ?3)`,
    accountId,
    createdAtMs,
    MAXIMUM_INVITATIONS - 1,
  );
  yield* run(
    `INSERT INTO one_time_links (id, token_hash, kind, email, user_id, account_id, role, created_at_ms, expires_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
    id,
    tokenHash,
    kind,
    email,
    userId,
    accountId,
    role,
    createdAtMs,
    expiresAtMs,
  );
}

function* listOf<Row>(sql: string, ...values: readonly (string | number)[]): Script<readonly Row[]> {
  const rows = yield* run(sql, ...values);
  return rows.map((row) => ({ ...row }) as Row);
}

async function writeOne(
  scripts: Scripts,
  sql: string,
  ...values: readonly (string | number)[]
): Promise<void> {
  await scripts.write(() => run(sql, ...values));
}

async function wroteOne(scripts: Scripts, sql: string, ...values: readonly string[]): Promise<boolean> {
  return (await scripts.write(() => run(sql, ...values))).length === 1;
}

/** A session as both engines read it; the amount is decimal text, and SQLite has no booleans. */
export type SessionRow = Omit<ProviderSession, 'quotedUnits' | 'hasEmail'> & {
  readonly quotedUnits: string | null;
  readonly hasEmail: boolean | number;
};

/**
 * The rank of a progress, as SQL: of two reports with the same time the higher one counts. Some providers report the time
 * in seconds, in which a card is declined and another one accepted. A customer who may have been charged must not be
 * asked to pay again.
 */
export function progressRankSql(progress: string): string {
  return `(CASE ${progress} WHEN 'paying' THEN 0 WHEN 'failed' THEN 1 WHEN 'delivering' THEN 2 ELSE 3 END)`;
}

export function sessionOfRow(row: SessionRow): ProviderSession {
  return {
    ...row,
    quotedUnits: row.quotedUnits === null ? null : BigInt(row.quotedUnits),
    hasEmail: Boolean(row.hasEmail),
  };
}
