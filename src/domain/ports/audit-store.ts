import type { AuditEntry, NewAuditEntry } from '../audit-entry.ts';

/** Where an entry is among those of all accounts. */
export type AuditPosition = Pick<AuditEntry, 'atMs' | 'accountId' | 'position'>;

/** Who did what. */
export interface AuditStore {
  /** Adds an entry; the account's oldest beyond `MAXIMUM_AUDIT_ENTRIES` are removed. */
  appendEntry(entry: NewAuditEntry): Promise<void>;
  /** The newest first, those before a position or, with null, from the newest on. */
  listEntries(accountId: string, before: number | null, limit: number): Promise<readonly AuditEntry[]>;
  /** Those of all accounts together, the newest first. */
  listAllEntries(before: AuditPosition | null, limit: number): Promise<readonly AuditEntry[]>;
}
