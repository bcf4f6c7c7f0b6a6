import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';

/** A store with an empty database of its own. */
export interface OpenedStore {
  readonly store: Store;
  /** Closes the store and opens another over the same database. */
  reopen(): Promise<Store>;
  /** Runs SQL on the database on a connection of its own. */
  change(sql: string): Promise<void>;
  /** SQL after which the database no longer guards its journal. */
  readonly unguardBook: string;
  /** Closes the newest store and removes the database. */
  dispose(): Promise<void>;
}

/** The engines by name; each keeps the same promises. */
export function storeEngines(postgres: PostgresServer): Readonly<Record<string, () => Promise<OpenedStore>>> {
  const databases = createDatabases(postgres);
  return { SQLite: openSqlite, PostgreSQL: () => openPostgres(postgres, databases) };
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
    change: async (sql) => inSqliteFile(file, (database) => database.exec(sql)),
    unguardBook:
      'DROP TRIGGER journal_stays; DROP TRIGGER journal_is_append_only; DROP TRIGGER journal_is_appended;',
    async dispose() {
      await newest.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Empty, migrated databases: to empty one or to copy one takes a fraction of the time of making one. */
interface Databases {
  take(): Promise<string>;
  /** Takes one back whose schema is as it was, and whose store is closed. */
  giveBack(url: string): Promise<void>;
}

/** As a replica would: the journal is guarded against just this. Rows are few, so that deleting them is quicker than truncating. */
const emptyAllTables = `SET session_replication_role = replica; DO $$ BEGIN EXECUTE (
  SELECT string_agg('DELETE FROM ' || quote_ident(tablename), '; ')
  FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'schema_steps')); EXECUTE coalesce((
  SELECT string_agg('ALTER SEQUENCE ' || quote_ident(sequencename) || ' RESTART', '; ')
  FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL), 'SELECT 1'); END $$`;

function createDatabases(postgres: PostgresServer): Databases {
  const empty: string[] = [];
  let template: Promise<string> | null = null;
  async function createTemplate(): Promise<string> {
    const url = await postgres.createDatabase();
    await (await openPostgresStore({ url })).close();
    return url;
  }
  return {
    async take() {
      template ??= createTemplate();
      return empty.pop() ?? postgres.copyDatabase(await template);
    },
    async giveBack(url) {
      await postgres.query(url, emptyAllTables);
      empty.push(url);
    },
  };
}

async function openPostgres(postgres: PostgresServer, databases: Databases): Promise<OpenedStore> {
  const url = await databases.take();
  let newest = await openPostgresStore({ url });
  let isRebuilt = false;
  return {
    store: newest,
    async reopen() {
      await newest.close();
      newest = await openPostgresStore({ url });
      return newest;
    },
    async change(sql) {
      isRebuilt ||= /\b(ALTER|CREATE|DROP)\b/.test(sql);
      await postgres.query(url, sql);
    },
    unguardBook: 'ALTER TABLE journal DISABLE TRIGGER USER;',
    async dispose() {
      await newest.close();
      await (isRebuilt ? postgres.dropDatabase(url) : databases.giveBack(url));
    },
  };
}
