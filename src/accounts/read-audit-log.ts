import type { AuditPosition, AuditRange, AuditStore } from './account-store.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Encodes a position for a link or a command, such as `1795212345678.acc_12.34`. */
export function auditCursor({ atMs, accountId, position }: AuditPosition): string {
  return `${atMs}.${accountId}.${position}`;
}

/** Parses a cursor from `auditCursor`; null for other text. */
export function parseAuditCursor(text: string): AuditPosition | null {
  const parts = /^(\d{1,15})\.([\w-]{1,100})\.(\d{1,15})$/.exec(text);
  if (parts === null) return null;
  const [, atMs, accountId, position] = parts as unknown as readonly [string, string, string, string];
  return { atMs: Number(atMs), accountId, position: Number(position) };
}

/** Reads a page of an account's audit entries, or of all if null, newest first. `next` is null on the last page. */
export async function readAuditPage(
  { audit }: { readonly audit: Pick<AuditStore, 'listEntries'> },
  accountId: string | null,
  before: AuditPosition | null,
  limit: number,
  range: AuditRange = {},
) {
  const found = await audit.listEntries(accountId, before, limit + 1, range);
  const entries = found.slice(0, limit);
  return { entries, next: found.length > limit ? (entries.at(-1) ?? null) : null };
}

/** Formats an audit entry for exports and the merchant API. */
export function presentAuditEntry({ position, atMs, actor, action, target, address }: AuditEntry) {
  return { position, created_at: new Date(atMs).toISOString(), actor, action, target, address };
}
