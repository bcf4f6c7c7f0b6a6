import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { startPostgres } from '../support/postgres.ts';
import { describeStore, type OpenedStore } from './conformance.ts';

/** The engines; each keeps the same promises. */
const engines = { SQLite: openSqlite, PostgreSQL: openPostgres };

const postgres = await startPostgres();
afterAll(() => postgres.stop());

async function openSqlite(): Promise<OpenedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-store-'));
  const file = join(folder, 'data', 'checkout.sqlite');
  let newest = await openSqliteStore({ file });
  return {
    store: newest,
    async reopen() {
      await newest.close();
      newest = await openSqliteStore({ file });
      return newest;
    },
    async change(sql) {
      const database = new DatabaseSync(file);
      try {
        database.exec(sql);
      } finally {
        database.close();
      }
    },
    forgetBook: 'DROP TRIGGER movements_stay; DELETE FROM movements;',
    async dispose() {
      await newest.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openPostgres(): Promise<OpenedStore> {
  const url = await postgres.createDatabase();
  let newest = await openPostgresStore({ url });
  return {
    store: newest,
    async reopen() {
      await newest.close();
      newest = await openPostgresStore({ url });
      return newest;
    },
    change: async (sql) => void (await postgres.query(url, sql)),
    forgetBook: 'ALTER TABLE movements DISABLE TRIGGER USER; DELETE FROM movements;',
    async dispose() {
      await newest.close();
      await postgres.dropDatabase(url);
    },
  };
}

for (const [name, open] of Object.entries(engines)) describeStore(name, open);
