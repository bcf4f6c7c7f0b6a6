import type { ProviderSession } from '../domain/provider-session.ts';

/** A session as both engines read it; the amount is decimal text, and SQLite has no booleans. */
export type SessionRow = Omit<ProviderSession, 'quotedUnits' | 'hasEmail'> & {
  readonly quotedUnits: string | null;
  readonly hasEmail: boolean | number;
};

/**
 * Which of two news of one moment counts, as SQL over their names. Some providers tell the time in seconds, in which a
 * card is declined and another one accepted: whoever may have been charged must not be told to pay again.
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
