import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { emptyAllTables, startPostgres } from '../../support/postgres.ts';

/** Where seeds get their stores from. */
export interface Stores {
  /** The most instances that may have one of these stores open at a time. */
  readonly instances: number;
  /** An empty store of its own, which can be closed and opened again. */
  prepare(): Promise<{ open(nowMs: () => number): Promise<Store>; remove(): Promise<void> }>;
  close(): Promise<void>;
}

/** In memory where there is such a folder: power loss is not simulated, and waiting for a disk is most of the time. */
const MEMORY_FOLDER = '/dev/shm';

export async function openSqliteStores(): Promise<Stores> {
  const place = existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
  const folder = await mkdtemp(join(place, 'card-checkout-campaign-'));
  // Each seed gets a copy of one empty store: bringing its schema up to date each time would take as long as a run.
  const template = join(folder, 'template.sqlite');
  await (await openSqliteStore({ file: template })).close();
  let prepared = 0;
  return {
    // A second process is refused by this engine.
    instances: 1,
    async prepare() {
      const own = join(folder, String(++prepared));
      await mkdir(own);
      await copyFile(template, join(own, 'store.sqlite'));
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
  // One database for all seeds: to empty it takes a tenth of the time of making one.
  const url = await server.createDatabase();
  await (await openPostgresStore({ url })).close();
  return {
    instances: 3,
    prepare: async () => ({
      open: (nowMs) => openPostgresStore({ url, nowMs, poolSize: 4 }),
      remove: async () => void (await server.query(url, emptyAllTables)),
    }),
    close: () => server.stop(),
  };
}
