import {
  MAXIMUM_FORGOTTEN_LINKS,
  MAXIMUM_INVITATIONS,
  type OneTimeLink,
  type SessionStore,
  type UserGuard,
} from '../accounts/account-store.ts';
import {
  type DashboardSession,
  MAXIMUM_CHALLENGES,
  MAXIMUM_SESSIONS,
} from '../accounts/session-lifetimes.ts';
import { textsOf } from './columns.ts';
import { holdUser } from './people.ts';
import { hasRow, lock, raw, run, runForOne, type Script, type Scripts, sql } from './scripts.ts';
import { dashboardSessionTable, linkTable } from './tables.ts';

export function createSessionStore({ read, write }: Scripts): SessionStore {
  return {
    createSession: write(createSession),
    findSession: read((tokenHash) => dashboardSessionTable.selectOne`WHERE token_hash = ${tokenHash}`),
    listSessions: read(
      (userId) => dashboardSessionTable.select`WHERE user_id = ${userId} ORDER BY created_at_ms DESC, id`,
    ),
    touchSession: write(function* (id, lastSeenAtMs) {
      yield* run`UPDATE dashboard_sessions SET last_seen_at_ms = ${lastSeenAtMs} WHERE id = ${id}`;
    }),
    chooseAccount: write(function* (id, accountId) {
      yield* run`UPDATE dashboard_sessions SET account_id = ${accountId} WHERE id = ${id}`;
    }),
    keepChallenge: write(function* (id, purpose, challenge) {
      yield* replaceChallenge(id, purpose, challenge);
    }),
    takeChallenge: write((id, purpose) => replaceChallenge(id, purpose, null)),
    endSession: write(
      (userId, id) =>
        hasRow`DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND id = ${id} RETURNING id`,
    ),
    createLink: write(createLink),
    findLink: read((tokenHash) => linkTable.selectOne`WHERE token_hash = ${tokenHash}`),
    takeLink: write(function* (tokenHash, nowMs) {
      const [taken] = yield* run`
        DELETE FROM one_time_links WHERE token_hash = ${tokenHash} AND expires_at_ms > ${nowMs}
        RETURNING ${raw(linkTable.names)}`;
      return taken === undefined ? null : linkTable.ofRow(taken);
    }),
    endLinks: write(function* (userId) {
      yield* run`DELETE FROM one_time_links WHERE user_id = ${userId}`;
    }),
    listInvitations: read(
      (accountId, nowMs) => linkTable.select`
        WHERE account_id = ${accountId} AND expires_at_ms > ${nowMs} ORDER BY created_at_ms DESC, id`,
    ),
    removeInvitation: write(
      (accountId, id) =>
        hasRow`DELETE FROM one_time_links WHERE account_id = ${accountId} AND id = ${id} RETURNING id`,
    ),
  };
}

function* createSession(session: DashboardSession, guard?: UserGuard): Script<boolean> {
  const { userId, stage, createdAtMs } = session;
  if (!(yield* holdUser(userId, guard))) return false;
  yield* run`DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND expires_at_ms <= ${createdAtMs}`;
  // Counts both kinds separately, because a password alone must not end sessions that a second factor opened.
  const isAlike = stage === 'open' ? sql`stage = 'open'` : sql`stage <> 'open'`;
  yield* run`
    DELETE FROM dashboard_sessions WHERE user_id = ${userId} AND ${isAlike} AND id NOT IN (
      SELECT id FROM dashboard_sessions WHERE user_id = ${userId} AND ${isAlike}
      ORDER BY created_at_ms DESC, id LIMIT ${MAXIMUM_SESSIONS - 1})`;
  yield* dashboardSessionTable.insert(session);
  return true;
}

/** Replaces the session's challenge for a purpose and returns the previous one. Null deletes the challenge. */
function* replaceChallenge(id: string, purpose: string, challenge: string | null): Script<string | null> {
  yield* lock(`challenge of ${id}`);
  const row = yield* runForOne<{ challenge: string | null }>`
    SELECT challenge FROM dashboard_sessions WHERE id = ${id}`;
  // Reads JSON pairs of purpose and challenge, oldest first.
  const kept = textsOf(row?.challenge ?? '[]') as readonly unknown[] as readonly [string, string][];
  const earlier = kept.find(([of]) => of === purpose)?.[1] ?? null;
  const others = kept.filter(([of]) => of !== purpose);
  const next = challenge === null ? others : [...others, [purpose, challenge] as const];
  const text = next.length === 0 ? null : JSON.stringify(next.slice(-MAXIMUM_CHALLENGES));
  yield* run`UPDATE dashboard_sessions SET challenge = ${text} WHERE id = ${id}`;
  return earlier;
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
  yield* linkTable.insert(link);
}
