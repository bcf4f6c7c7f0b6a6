import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts';
import type { Machine } from './machine.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import type { ServerName } from './servers/bench-server.ts';

/** The servers under measurement, all of them paused save for the one that is asked. */
export interface ServerFleet {
  /** Throws for a server that was not started. */
  get(name: ServerName): ServerProcess;
  stop(): Promise<void>;
}

export interface FleetOptions {
  readonly folder: string;
  readonly machine: Machine;
  readonly nodeFlagsOf: (name: ServerName) => readonly string[];
  /** The data folder with a million payments; null when nobody asks for one. */
  readonly millionDataDir: string | null;
}

/** PostgreSQL as it is installed: every commit waits for the disk. Room for the connections of both servers. */
const POSTGRES_SETTINGS = ['max_connections=50'];

/** Starts each of these servers once, and PostgreSQL if one of them needs it. */
export async function startServerFleet(
  names: ReadonlySet<ServerName>,
  options: FleetOptions,
): Promise<ServerFleet> {
  const servers = new Map<ServerName, ServerProcess>();
  let postgres: PostgresServer | null = null;
  async function stop(): Promise<void> {
    await Promise.all([...servers.values()].map((server) => server.stop()));
    await postgres?.stop();
  }
  try {
    for (const name of names) {
      if (name === 'service-million') copyMillion(options);
      let databaseUrl: string | null = null;
      if (name.endsWith('-postgres')) {
        postgres ??= await startPostgres(POSTGRES_SETTINGS);
        databaseUrl = await postgres.createDatabase();
      }
      const { machine, nodeFlagsOf, folder } = options;
      const childOptions = { pin: machine.measuredCore, nodeFlags: nodeFlagsOf(name) };
      const server = await startServerProcess(name, folder, childOptions, databaseUrl);
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

function copyMillion({ folder, millionDataDir }: FleetOptions): void {
  if (millionDataDir === null) throw new Error('the database with a million payments was not made');
  const dataDir = join(folder, 'service-million' satisfies ServerName);
  mkdirSync(dataDir, { recursive: true });
  copyFileSync(join(millionDataDir, 'card-checkout.sqlite'), join(dataDir, 'card-checkout.sqlite'));
}
