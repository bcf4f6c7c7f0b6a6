import { SOMEBODY, startEndToEndService } from '../../support/e2e-service.ts';
import { openLiveInstances } from '../../support/live-instances.ts';
import { createShop } from '../../support/service-process.ts';
import type { CreateTarget } from './load.ts';
import { childrenOf, parentOf } from './tracer.ts';

/** A real server process over an engine. */
export interface DurabilityTarget {
  readonly name: string;
  create(): CreateTarget;
  /** Kills the server as `kill -9` does; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  revive(): Promise<void>;
  /** Ends the database server at once and starts it again, where there is one. */
  readonly crashDatabase: (() => Promise<void>) | null;
  /** All processes that write to sockets and to the database's files. */
  processIds(): Promise<readonly number[]>;
  /** Whether a file is the log that a commit is in first. */
  isLog(path: string): boolean;
  stop(): Promise<void>;
}

const unlimited = { RATE_LIMIT_CREATE_PER_MINUTE: '100000000', RATE_LIMIT_STATUS_PER_MINUTE: '100000000' };

/** A sandbox in a process of its own. */
export async function openSqliteTarget(nodeArgs: readonly string[] = []): Promise<DurabilityTarget> {
  const service = await startEndToEndService(unlimited, { nodeArgs });
  const { url, receiver } = service;
  const apiKey = service.process().demoKey();
  return {
    name: 'SQLite',
    create: () => ({ url, apiKey, callback: receiver.url, address: SOMEBODY }),
    async kill() {
      await service.process().end('SIGKILL');
    },
    async revive() {
      await service.restart('SIGKILL');
    },
    crashDatabase: null,
    processIds: async () => [service.process().pid],
    isLog: (path) => path.endsWith('.sqlite-wal'),
    stop: () => service.stop(),
  };
}

/** With what a database of value needs: nothing is switched off. */
const durableSettings = ['shared_buffers=32MB', 'max_connections=200'];

/** A process in live mode on a PostgreSQL of its own. */
export async function openPostgresTarget(): Promise<DurabilityTarget> {
  const live = await openLiveInstances({ postgresSettings: durableSettings });
  const databaseUrl = await live.postgres.createDatabase();
  let instance = await live.start('all', { ...unlimited, DATABASE_URL: databaseUrl });
  const { apiKey } = await createShop(instance.environment);
  return {
    name: 'PostgreSQL',
    create: () => ({
      url: instance.url,
      apiKey,
      callback: live.receiver.url,
      address: live.world.merchantWallet,
    }),
    async kill() {
      await instance.process.end('SIGKILL');
    },
    async revive() {
      instance = await live.startAgain('all', instance);
    },
    crashDatabase: () => live.postgres.crash(),
    async processIds() {
      const [row] = await live.postgres.query(databaseUrl, 'SELECT pid FROM pg_stat_activity LIMIT 1');
      const server = parentOf(Number(row?.['pid']));
      if (server === null) throw new Error('the PostgreSQL server was not found');
      return [instance.process.pid, server, ...childrenOf(server)];
    },
    isLog: (path) => path.includes('/pg_wal/'),
    stop: () => live.stop(),
  };
}
