import { type AuditEntry, MAXIMUM_AUDIT_ENTRIES, type NewAuditEntry } from '../domain/audit-entry.ts';
import type { AuditPosition, AuditStore } from '../domain/ports/account-store.ts';
import { insert, lock, run, runForOne, type Script, type Scripts, select } from './scripts.ts';
import { checkListLimit } from './store.ts';
import { auditTable } from './tables.ts';

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
