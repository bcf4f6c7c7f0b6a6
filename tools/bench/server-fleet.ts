import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import type { Machine } from './machine.ts';
import { recordCreates } from './record-creates.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import type { ServerName } from './servers/bench-server.ts';

/** Measured servers, all paused except the one under load. */
export interface ServerFleet {
  /** Throws if the server was not started. */
  get(name: ServerName): ServerProcess;
  stop(): Promise<void>;
}

export interface FleetOptions {
  readonly folder: string;
  readonly machine: Machine;
  readonly nodeFlagsOf: (name: ServerName) => readonly string[];
  /** Data folder with a million payments; null if no server needs it. */
  readonly millionDataDir: string | null;
}

/** PostgreSQL with default durability: every commit waits for the disk. Has enough connections for both servers. */
const POSTGRES_SETTINGS = ['max_connections=50'];

/** Starts each of these servers once, and PostgreSQL if one of them needs it. */
export async function startServerFleet(
  names: ReadonlySet<ServerName>,
  options: FleetOptions,
): Promise<ServerFleet> {
  const { machine, nodeFlagsOf, folder, millionDataDir } = options;
  const servers = new Map<ServerName, ServerProcess>();
  let postgres: PostgresServer | null = null;
  async function stop(): Promise<void> {
    await Promise.all([...servers.values()].map((server) => server.stop()));
    await postgres?.stop();
  }
  try {
    for (const name of names) {
      let databaseUrl: string | null = null;
      if (name.endsWith('-postgres')) {
        postgres ??= await startPostgres(POSTGRES_SETTINGS);
        databaseUrl = await postgres.createDatabase();
      }
      const start = (started: ServerName, below: string, environment = {}) =>
        startServerProcess(
          started,
          below,
          { pin: machine.measuredCore, nodeFlags: nodeFlagsOf(started), environment },
          databaseUrl,
        );
      if (name === 'service-million' && millionDataDir !== null)
        copyDatabase(millionDataDir, join(folder, name));
      if (name.startsWith('ceiling')) {
        const below = join(folder, `recorded-${name}`);
        const service = await start('service', below, { BENCH_RECORDS: '1' });
        const recorded = await recordCreates(service);
        await service.stop();
        copyDatabase(join(below, 'service'), join(folder, name), databaseUrl === null);
        writeFileSync(join(folder, name, 'recorded'), serialize(recorded));
      }
      const server = await start(name, folder);
      servers.set(name, server);
      server.pause();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get(name) {
      const server = servers.get(name);
      if (server === undefined) throw new Error(`the server ${name} was not started`);
      return server;
    },
    stop,
  };
}

function copyDatabase(from: string, to: string, isSqlite = true): void {
  mkdirSync(to, { recursive: true });
  if (isSqlite) copyFileSync(join(from, 'card-checkout.sqlite'), join(to, 'card-checkout.sqlite'));
}
