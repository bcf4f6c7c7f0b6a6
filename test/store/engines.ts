import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { PostgresServer } from '../support/postgres.ts';

/** A store with an empty database of its own. */
export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens another over the same database. */
  reopen(): Promise<Store>;
  /** Runs SQL on the database on a connection of its own. */
  change(sql: string): Promise<void>;
  /** SQL after which the database no longer guards its book of movements. */
  readonly unguardBook: string;
  /** Closes the newest store and removes the database. */
  dispose(): Promise<void>;
}

/** The engines by name; each keeps the same promises. */
export function storeEngines(postgres: PostgresServer): Readonly<Record<string, () => Promise<OpenedStore>>> {
  return { SQLite: openSqlite, PostgreSQL: () => openPostgres(postgres) };
}

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
    unguardBook:
      'DROP TRIGGER movements_stay; DROP TRIGGER movements_stay_as_they_are; DROP TRIGGER movements_are_appended;',
    async dispose() {
      await newest.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openPostgres(postgres: PostgresServer): Promise<OpenedStore> {
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
    unguardBook: 'ALTER TABLE movements DISABLE TRIGGER USER;',
    async dispose() {
      await newest.close();
      await postgres.dropDatabase(url);
    },
  };
}
