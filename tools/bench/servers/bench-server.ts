/** A server under measurement, as its own process sees it. */
export interface BenchServer {
  readonly port: number;
  /** The SQLite file it writes payments to; null when it writes to PostgreSQL, or none. */
  readonly databaseFile: string | null;
  /** API keys that it takes, account by account; empty when it looks at none. */
  readonly apiKeys: readonly string[];
  stop(): Promise<void>;
}

/** An account's limit is ten. */
export const KEYS_PER_ACCOUNT = 8;

/** Every server that is measured. `service-million` has a million payments stored; those with `postgres` write to it. */
export type ServerName =
  | 'raw-get'
  | 'ceiling-a'
  | 'ceiling-postgres'
  | 'service'
  | 'service-million'
  | 'service-postgres';

/** Since the process began. */
export interface Usage {
  /** User and system time of the whole process, garbage collection and file work included. */
  readonly cpuMicroseconds: number;
  /** Write transactions of SQLite begun. */
  readonly commits: number;
}
