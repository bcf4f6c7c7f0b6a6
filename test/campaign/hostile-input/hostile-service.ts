import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import { type ApiService, createApiService } from '../../support/api-service.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import type { TestDatabase } from '../../support/test-store.ts';

/** The API over a store of its own, which tells what was stored since it was last asked. */
export interface HostileService {
  readonly service: ApiService;
  /** Ids of the payments that were stored since the last call. */
  takeStored(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Sorts after every payment id. */
const AFTER_ALL_IDS = 'g';
const MOST_AT_ONCE = 100;

type EmptyDatabase = Pick<TestDatabase, 'open' | 'remove'>;

export async function emptySqlite(): Promise<EmptyDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-hostile-'));
  return {
    open: () => openSqliteStore({ file: join(folder, 'store.sqlite') }),
    remove: () => rm(folder, { recursive: true }),
  };
}

export async function emptyPostgres(server: PostgresServer): Promise<EmptyDatabase> {
  const url = await server.createDatabase();
  return {
    open: () => openPostgresStore({ url, poolSize: 4 }),
    remove: () => server.dropDatabase(url),
  };
}

export async function openHostileService(database: EmptyDatabase): Promise<HostileService> {
  const service = await createApiService({ requestsPerMinute: 1_000_000_000, database });
  let last = '';
  return {
    service,
    async takeStored() {
      const ids = await service.store.payments.listPaymentIds(last, AFTER_ALL_IDS, MOST_AT_ONCE);
      last = ids.at(-1) ?? last;
      return ids;
    },
    close: () => service.close(),
  };
}
