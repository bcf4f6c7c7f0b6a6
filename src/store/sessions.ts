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
  hasRow,
  insert,
  lock,
  raw,
  run,
  runForOne,
  type Script,
  type Scripts,
  select,
  selectOne,
  sql,
} from './scripts.ts';
import { dashboardSessionTable, linkTable } from './tables.ts';

/** Sessions and one-time links, on any engine. */
export function createSessionStore(scripts: Scripts): SessionStore {
  return {
    createSession: (session, guard) => scripts.write(() => createSession(session, guard)),
    findSession: (tokenHash) =>
      scripts.read(() => selectOne(dashboardSessionTable)`WHERE token_hash = ${tokenHash}`),
    listSessions: (userId) =>
      scripts.read(
        () => select(dashboardSessionTable)`WHERE user_id = ${userId} ORDER BY created_at_ms DESC, id`,
      ),
    async touchSession(id, lastSeenAtMs) {
      await scripts.write(
        () => run`UPDATE dashboard_sessions SET last_seen_at_ms = ${lastSeenAtMs} WHERE id = ${id}`,
      );
    },
    async chooseAccount(id, accountId) {
      await scripts.write(
        () => run`UPDATE dashboard_sessions SET account_id = ${accountId} WHERE id = ${id}`,
      );
    },
    async keepChallenge(id, purpose, challenge) {
      await scripts.write(() => replaceChallenge(id, purpose, challenge));
    },
    takeChallenge: (id, purpose) => scripts.write(() => replaceChallenge(id, purpose, null)),
    endSession: (userId, id) =>
      scripts.write(
        () => hasRow`DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND id = ${id} RETURNING id`,
      ),
    createLink: (link) => scripts.write(() => createLink(link)),
    findLink: (tokenHash) => scripts.read(() => selectOne(linkTable)`WHERE token_hash = ${tokenHash}`),
    takeLink: (tokenHash, nowMs) =>
      scripts.write(function* () {
        const [taken] = yield* run`
          DELETE FROM one_time_links WHERE token_hash = ${tokenHash} AND expires_at_ms > ${nowMs}
          RETURNING ${raw(linkTable.names)}`;
        return taken === undefined ? null : linkTable.ofRow(taken);
      }),
    async endLinks(userId) {
      await scripts.write(() => run`DELETE FROM one_time_links WHERE user_id = ${userId}`);
    },
    listInvitations: (accountId, nowMs) =>
      scripts.read(
        () =>
          select(linkTable)`
          WHERE account_id = ${accountId} AND expires_at_ms > ${nowMs} ORDER BY created_at_ms DESC, id`,
      ),
    removeInvitation: (accountId, id) =>
      scripts.write(
        () => hasRow`DELETE FROM one_time_links WHERE account_id = ${accountId} AND id = ${id} RETURNING id`,
      ),
  };
}

function* createSession(session: DashboardSession, guard: UserGuard | undefined): Script<boolean> {
  const { userId, stage, createdAtMs } = session;
  yield* lock(`user ${userId}`);
  if (!(yield* isGuardMet(userId, guard))) return false;
  yield* run`DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND expires_at_ms <= ${createdAtMs}`;
  // Counted separately: a holder of only the password must not end sessions that a second factor has opened.
  const isAlike = stage === 'open' ? sql`stage = 'open'` : sql`stage <> 'open'`;
  yield* run`
    DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND ${isAlike} AND id NOT IN (
      SELECT id FROM dashboard_sessions WHERE user_id = ${userId} AND ${isAlike}
      ORDER BY created_at_ms DESC, id LIMIT ${MAXIMUM_SESSIONS - 1})`;
  yield* insert(dashboardSessionTable, session);
  return true;
}

/** Puts a challenge in the place of the one of the same purpose, and returns that. Null takes it away. */
function* replaceChallenge(id: string, purpose: string, challenge: string | null): Script<string | null> {
  yield* lock(`challenge of ${id}`);
  const row = yield* runForOne<{ challenge: string | null }>`
    SELECT challenge FROM dashboard_sessions WHERE id = ${id}`;
  const kept = challengesOf(row?.challenge ?? null);
  const earlier = kept.find(([of]) => of === purpose)?.[1] ?? null;
  const others = kept.filter(([of]) => of !== purpose);
  const next = challenge === null ? others : [...others, [purpose, challenge] as const];
  const text = next.length === 0 ? null : JSON.stringify(next.slice(-MAXIMUM_CHALLENGES));
  yield* run`UPDATE dashboard_sessions SET challenge = ${text} WHERE id = ${id}`;
  return earlier;
}

/** The column holds pairs of purpose and challenge as JSON, the oldest first. Anything else is of an earlier version. */
function challengesOf(column: string | null): readonly (readonly [string, string])[] {
  return column?.startsWith('[') === true ? JSON.parse(column) : [];
}

function* createLink(link: OneTimeLink): Script<void> {
  const { kind, userId, accountId, createdAtMs } = link;
  yield* lock(`links of ${userId ?? accountId}`);
  if (kind === 'forgotten') {
    yield* run`
      DELETE FROM one_time_links WHERE user_id = ${userId} AND kind = 'forgotten' AND id NOT IN (
        SELECT id FROM one_time_links
        WHERE user_id = ${userId} AND kind = 'forgotten' AND expires_at_ms > ${createdAtMs}
        ORDER BY created_at_ms DESC, id LIMIT ${MAXIMUM_FORGOTTEN_LINKS - 1})`;
  } else yield* run`DELETE FROM one_time_links WHERE user_id = ${userId}`;
  yield* run`
    DELETE FROM one_time_links WHERE account_id = ${accountId} AND id NOT IN (
      SELECT id FROM one_time_links WHERE account_id = ${accountId} AND expires_at_ms > ${createdAtMs}
      ORDER BY created_at_ms DESC, id LIMIT ${MAXIMUM_INVITATIONS - 1})`;
  yield* insert(linkTable, link);
}
