import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { type ChildOptions, startChild } from './child-process.ts';
import type { BenchServer, ServerName, Usage } from './servers/bench-server.ts';
import type { Statement } from './servers/recorded-creates.ts';

/** A server in its own process. */
export interface ServerProcess {
  readonly name: ServerName;
  readonly port: number;
  readonly apiKeys: readonly string[];
  readonly databaseFile: string | null;
  readUsage(): Promise<Usage>;
  /** Statements sent to PostgreSQL since the last call; empty unless recording is on. */
  takeStatements(): Promise<readonly Statement[]>;
  /** Payments in its database, as seen by another process; 0 without a database. */
  countPayments(): Promise<number>;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Starts it with its data in this folder, or in the database at this URL. */
export async function startServerProcess(
  name: ServerName,
  folder: string,
  options: ChildOptions,
  databaseUrl: string | null = null,
): Promise<ServerProcess> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { recursive: true });
  const parameters = [name, dataDir, ...(databaseUrl === null ? [] : [databaseUrl])];
  const child = await startChild<Omit<BenchServer, 'stop'>>('servers/main.ts', parameters, options);
  const { port, apiKeys, databaseFile } = child.ready;
  return {
    name,
    port,
    apiKeys,
    databaseFile,
    readUsage: () => child.ask('usage'),
    takeStatements: () => child.ask('statements'),
    async countPayments() {
      if (databaseUrl !== null) return countPostgresRows(databaseUrl);
      return databaseFile === null ? 0 : countSqliteRows(databaseFile);
    },
    pause: child.pause,
    resume: child.resume,
    stop: child.stop,
  };
}

const countPayments = 'SELECT count(*) AS count FROM payments';

function countSqliteRows(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
  try {
    return Number(database.prepare(countPayments).get()?.['count']);
  } finally {
    database.close();
  }
}

async function countPostgresRows(connectionString: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return Number((await client.query(countPayments)).rows[0].count);
  } finally {
    await client.end();
  }
}
