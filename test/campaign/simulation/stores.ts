import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../../src/app/store/postgres-store.ts';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import type { Store } from '../../../src/app/store/store.ts';
import { memoryFolder } from '../../support/memory-folder.ts';
import { startPostgres } from '../../support/postgres.ts';

export interface Stores {
  readonly instances: number;
  readonly seedsAtATime: number;
  /** An empty store of its own, which can be closed and opened again. */
  prepare(): Promise<{ open(nowMs: () => number): Promise<Store>; remove(): Promise<void> }>;
  close(): Promise<void>;
}

/** Power loss is not simulated, and waiting for a disk is most of the time. */
const placeOfStores = () => memoryFolder() ?? tmpdir();

export async function openSqliteStores(): Promise<Stores> {
  const folder = await mkdtemp(join(placeOfStores(), 'card-checkout-campaign-'));
  // Each seed gets a copy of one empty store: bringing its schema up to date each time would take as long as a run.
  const template = join(folder, 'template.sqlite');
  await (await openSqliteStore({ file: template })).close();
  let prepared = 0;
  return {
    instances: 1,
    seedsAtATime: 1,
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

/** Deletes what a seed has left, as a replica would: the book is guarded against just this. */
const emptyAllTables = `SET session_replication_role = replica; DO $$ BEGIN EXECUTE (
  SELECT string_agg('DELETE FROM ' || quote_ident(tablename), '; ')
  FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'schema_steps')); END $$`;

/** Most of a seed's time is spent waiting for the server. */
const POSTGRES_SEEDS_AT_A_TIME = 4;

export async function openPostgresStores(): Promise<Stores> {
  const server = await startPostgres(undefined, placeOfStores());
  /** Databases that no seed uses now: to empty one takes far less time than making one. */
  const empty: string[] = [];
  async function makeDatabase(): Promise<string> {
    const url = await server.createDatabase();
    await (await openPostgresStore({ url })).close();
    return url;
  }
  return {
    instances: 3,
    seedsAtATime: POSTGRES_SEEDS_AT_A_TIME,
    async prepare() {
      const url = empty.pop() ?? (await makeDatabase());
      return {
        open: (nowMs) => openPostgresStore({ url, nowMs, poolSize: 2 }),
        async remove() {
          await server.query(url, emptyAllTables);
          empty.push(url);
        },
      };
    },
    close: () => server.stop(),
  };
}
