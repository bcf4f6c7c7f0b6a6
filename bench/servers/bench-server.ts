/** A server under measurement, as its own process sees it. */
export interface BenchServer {
  readonly port: number;
  /** The SQLite file it writes payments to; null when it writes to PostgreSQL, or none. */
  readonly databaseFile: string | null;
  /** API keys that it takes; empty when it looks at none. */
  readonly apiKeys: readonly string[];
  stop(): Promise<void>;
}

/**
 * Every server that is measured, from the least to the whole. `service-million` has a million payments stored,
 * `service-silent` neither logs nor counts, those with `postgres` write to PostgreSQL.
 */
export type ServerName =
  | 'raw-get'
  | 'raw-post'
  | 'ceiling-a'
  | 'ceiling-b'
  | 'ceiling-postgres'
  | 'service'
  | 'service-million'
  | 'service-silent'
  | 'service-postgres';

/** Since the process began. */
export interface Usage {
  /** User and system time of the whole process, garbage collection and file work included. */
  readonly cpuMicroseconds: number;
  /** Write transactions of SQLite begun. */
  readonly commits: number;
}
