import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { startPostgres } from '../../support/postgres.ts';

/** Where seeds get their stores from. */
export interface Stores {
  /** An empty store of its own, which can be closed and opened again. */
  prepare(): Promise<{ open(nowMs: () => number): Promise<Store>; remove(): Promise<void> }>;
  close(): Promise<void>;
}

export async function openSqliteStores(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-campaign-'));
  let prepared = 0;
  return {
    async prepare() {
      const own = join(folder, String(++prepared));
      await mkdir(own);
      return {
        open: (nowMs) => openSqliteStore({ file: join(own, 'store.sqlite'), nowMs }),
        remove: () => rm(own, { recursive: true }),
      };
    },
    close: () => rm(folder, { recursive: true }),
  };
}

export async function openPostgresStores(): Promise<Stores> {
  const server = await startPostgres();
  return {
    async prepare() {
      const url = await server.createDatabase();
      return {
        open: (nowMs) => openPostgresStore({ url, nowMs, poolSize: 4 }),
        remove: () => server.dropDatabase(url),
      };
    },
    close: () => server.stop(),
  };
}
