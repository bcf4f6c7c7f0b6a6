import type { AuditEntry, NewAuditEntry } from '../audit-entry.ts';

/** Who did what, an account at a time. */
export interface AuditStore {
  /** Adds an entry; the account's oldest beyond `MAXIMUM_AUDIT_ENTRIES` are removed. */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** The newest first, those before a position or, with null, from the newest on. */
  listEntries(accountId: string, before: number | null, limit: number): Promise<readonly AuditEntry[]>;
}
