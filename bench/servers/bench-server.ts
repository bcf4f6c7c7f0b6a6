/** A server under measurement, as its own process sees it. */
export interface BenchServer {
  readonly port: number;
  /** The SQLite file it writes payments to; null when it writes none. */
  readonly databaseFile: string | null;
  /** API keys that it takes; empty when it looks at none. */
  readonly apiKeys: readonly string[];
  stop(): Promise<void>;
}

/** Every server that is measured, from the least to the whole. */
export const serverNames = ['raw-get', 'raw-post', 'ceiling-a', 'ceiling-b', 'service'] as const;
export type ServerName = (typeof serverNames)[number];

/** What a server's process tells the bench, in answer to nothing (`ready`) or to `usage`. */
export type ServerMessage =
  | ({ readonly kind: 'ready' } & Omit<BenchServer, 'stop'>)
  | ({ readonly kind: 'usage' } & Usage);

/** Since the process began. */
export interface Usage {
  /** User and system time of the whole process, garbage collection and file work included. */
  readonly cpuMicroseconds: number;
  /** Write transactions begun. */
  readonly commits: number;
}
