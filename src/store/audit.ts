import { type AuditEntry, MAXIMUM_AUDIT_ENTRIES, type NewAuditEntry } from '../domain/audit-entry.ts';
import type { AuditPosition, AuditStore } from '../domain/ports/account-store.ts';
import { lock, run, runForOne, type Script, type Scripts } from './scripts.ts';
import { checkListLimit } from './store.ts';

const columns = `account_id AS "accountId", position, at_ms AS "atMs", actor, user_id AS "userId", action, target,
  address`;
/** Sorts after every position. */
const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** The audit log, on any engine. */
export function createAuditStore(scripts: Scripts): AuditStore {
  return {
    appendEntry: (entry) => scripts.write(() => appendEntry(entry)),
    listEntries: (accountId, before, limit) =>
      scripts.read(function* () {
        checkListLimit(limit);
        const rows = yield* run(
          `SELECT ${columns} FROM audit_entries WHERE account_id = ?1 AND position < ?2
           ORDER BY position DESC LIMIT ?3`,
          accountId,
          before ?? AFTER_ALL,
          limit,
        );
        return rows.map((row) => ({ ...row }) as unknown as AuditEntry);
      }),
    listAllEntries: (before, limit) => scripts.read(() => listAllEntries(before, limit)),
  };
}

function* listAllEntries(before: AuditPosition | null, limit: number): Script<readonly AuditEntry[]> {
  checkListLimit(limit);
  const { atMs, accountId, position } = before ?? { atMs: AFTER_ALL, accountId: '', position: AFTER_ALL };
  const rows = yield* run(
    `SELECT ${columns} FROM audit_entries WHERE (at_ms, account_id, position) < (?1, ?2, ?3)
     ORDER BY at_ms DESC, account_id DESC, position DESC LIMIT ?4`,
    atMs,
    accountId,
    position,
    limit,
  );
  return rows.map((row) => ({ ...row }) as unknown as AuditEntry);
}

function* appendEntry({ accountId, ...entry }: NewAuditEntry): Script<void> {
  yield* lock(`audit log of ${accountId}`);
  const newest = yield* runForOne<{ position: number }>(
    'SELECT coalesce(max(position), 0) AS position FROM audit_entries WHERE account_id = ?1',
    accountId,
  );
  const position = (newest?.position ?? 0) + 1;
  yield* run(
    `INSERT INTO audit_entries (account_id, position, at_ms, actor, user_id, action, target, address)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
    accountId,
    position,
    entry.atMs,
    entry.actor,
    entry.userId,
    entry.action,
    entry.target,
    entry.address,
  );
  yield* run(
    'DELETE FROM audit_entries WHERE account_id = ?1 AND position <= ?2',
    accountId,
    position - MAXIMUM_AUDIT_ENTRIES,
  );
}
