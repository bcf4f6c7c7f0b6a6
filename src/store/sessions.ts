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
import { isGuardMet } from './people.ts';
import {
  changesOne,
  insert,
  lock,
  run,
  runForOne,
  type Script,
  type Scripts,
  select,
  selectOne,
} from './scripts.ts';
import { dashboardSessionTable, linkTable } from './tables.ts';

/** Sessions and one-time links, on any engine. */
export function createSessionStore(scripts: Scripts): SessionStore {
  return {
    createSession: (session, guard) => scripts.write(() => createSession(session, guard)),
    findSession: (tokenHash) =>
      scripts.read(() => selectOne(dashboardSessionTable, 'WHERE token_hash = ?1', tokenHash)),
    listSessions: (userId) =>
      scripts.read(() =>
        select(dashboardSessionTable, 'WHERE user_id = ?1 ORDER BY created_at_ms DESC, id', userId),
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
      scripts.write(() =>
        changesOne('DELETE FROM dashboard_sessions WHERE user_id = ?1 AND id = ?2 RETURNING id', userId, id),
      ),
    ...createLinks(scripts),
  };
}

function* createSession(session: DashboardSession, guard: UserGuard | undefined): Script<boolean> {
  const { userId, stage, createdAtMs } = session;
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
  yield* insert(dashboardSessionTable, session);
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
    findLink: (tokenHash) => scripts.read(() => selectOne(linkTable, 'WHERE token_hash = ?1', tokenHash)),
    takeLink: (tokenHash, nowMs) =>
      scripts.write(function* () {
        const [taken] = yield* run(
          `DELETE FROM one_time_links WHERE token_hash = ?1 AND expires_at_ms > ?2 RETURNING ${linkTable.names}`,
          tokenHash,
          nowMs,
        );
        return taken === undefined ? null : linkTable.ofRow(taken);
      }),
    endLinks: (userId) => writeOne(scripts, 'DELETE FROM one_time_links WHERE user_id = ?1', userId),
    listInvitations: (accountId, nowMs) =>
      scripts.read(() =>
        select(
          linkTable,
          'WHERE account_id = ?1 AND expires_at_ms > ?2 ORDER BY created_at_ms DESC, id',
          accountId,
          nowMs,
        ),
      ),
    removeInvitation: (accountId, id) =>
      scripts.write(() =>
        changesOne(
          'DELETE FROM one_time_links WHERE account_id = ?1 AND id = ?2 RETURNING id',
          accountId,
          id,
        ),
      ),
  };
}

function* createLink(link: OneTimeLink): Script<void> {
  const { kind, userId, accountId, createdAtMs } = link;
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
  yield* insert(linkTable, link);
}

async function writeOne(
  scripts: Scripts,
  sql: string,
  ...values: readonly (string | number)[]
): Promise<void> {
  await scripts.write(() => run(sql, ...values));
}
