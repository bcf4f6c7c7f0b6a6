import type { ProviderSession } from '../domain/provider-session.ts';

/** A session as both engines read it; the amount is decimal text. */
export type SessionRow = Omit<ProviderSession, 'quotedUnits'> & { readonly quotedUnits: string | null };

export function sessionOfRow(row: SessionRow): ProviderSession {
  return { ...row, quotedUnits: row.quotedUnits === null ? null : BigInt(row.quotedUnits) };
}
