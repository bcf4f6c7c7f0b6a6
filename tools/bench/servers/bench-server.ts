/** Measured server, inside its own process. */
export interface BenchServer {
  readonly port: number;
  /** SQLite file for payments; null for PostgreSQL, or if it writes none. */
  readonly databaseFile: string | null;
  /** Accepted API keys per account; empty if it checks none. */
  readonly apiKeys: readonly string[];
  stop(): Promise<void>;
}

/** Below the limit of ten keys per account. */
export const KEYS_PER_ACCOUNT = 8;

/** Measured servers. `service-million` starts with a million payments; those named `postgres` write to it. */
export type ServerName =
  | 'raw-get'
  | 'ceiling-a'
  | 'ceiling-postgres'
  | 'service'
  | 'service-million'
  | 'service-postgres';

/** Since the start of the process. */
export interface Usage {
  /** User and system time of the whole process, garbage collection and file work included. */
  readonly cpuMicroseconds: number;
  /** Begun write transactions of SQLite. */
  readonly commits: number;
}
