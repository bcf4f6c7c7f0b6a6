import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import './postgres-for-all.ts';
import { queryPostgres } from './postgres.ts';
import { inSqliteFile } from './sqlite-file.ts';

/** An empty database of its own, of the engine that the test project is for. */
export interface TestDatabase {
  /** Opens a store over it; the one before has to be closed. */
  open(): Promise<Store>;
  /** Somebody else's hand in the database. */
  execute(sql: string): Promise<void>;
  /** Removes it; its store has to be closed. */
  remove(): Promise<void>;
}

/** `nowMs` is the store's wall clock. */
export function createTestDatabase(nowMs: () => number = Date.now): Promise<TestDatabase> {
  const template = inject('postgresTemplate');
  return template === undefined ? createSqlite(nowMs) : createPostgres(template, nowMs);
}

async function createSqlite(nowMs: () => number): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-test-'));
  const file = join(folder, 'store.sqlite');
  return {
    open: () => openSqliteStore({ file, nowMs }),
    execute: async (sql) => inSqliteFile(file, (database) => database.exec(sql)),
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Databases that a test of this file has left, emptied: to empty one takes a tenth of the time of making one. */
const emptied: string[] = [];

/**
 * As a replica would write: the journal is guarded against just this. By DELETE, because TRUNCATE gives every table new
 * files, also one that has no rows: 40 ms of the server's time, where this takes 10.
 */
const emptyAllTables = `SET session_replication_role = replica; DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'schema_steps')
  LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
  PERFORM setval(quote_ident(sequencename)::regclass, start_value, false) FROM pg_sequences;
  END $$; RESET session_replication_role`;

async function createPostgres(template: string, nowMs: () => number): Promise<TestDatabase> {
  const url = emptied.pop() ?? (await copyDatabase(template));
  const execute = async (sql: string) => void (await queryPostgres(url, sql));
  return {
    open: () => openPostgresStore({ url, nowMs, poolSize: 4 }),
    execute,
    async remove() {
      await execute(emptyAllTables);
      emptied.push(url);
    },
  };
}

/** Goes with its server, which serves this run of tests only. */
async function copyDatabase(template: string): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const urlOf = (database: string) => Object.assign(new URL(template), { pathname: `/${database}` }).href;
  const source = new URL(template).pathname.slice(1);
  await queryPostgres(urlOf('postgres'), `CREATE DATABASE ${name} TEMPLATE ${source}`);
  return urlOf(name);
}
