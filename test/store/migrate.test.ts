import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { backUp } from '../../src/app/back-up.ts';
import { createLog } from '../../src/app/log.ts';
import { migrations } from '../../src/app/migrations.ts';
import { moveStore } from '../../src/app/move-store.ts';
import { initDatabase, migrateDatabase, openStoreToServe } from '../../src/app/open-store.ts';
import { runOperationAnywhere } from '../../src/app/run-operation.ts';
import { readConfig } from '../../src/config/config.ts';
import { migrate as migratePostgres } from '../../src/store/postgres/migrations.ts';
import { migrate as migrateSqlite } from '../../src/store/sqlite/migrations.ts';
import { StoreInUseError, StoreOutdatedError, StoreTooNewError } from '../../src/store/store-errors.ts';
import { startPostgres } from '../support/postgres.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { nextMigration } from './versions.ts';

// This version with one migration more: then there is an older one.
for (const steps of Object.values(migrations)) (steps as (typeof nextMigration)[]).push(nextMigration);

const postgres = await startPostgres(['fsync=off']);
afterAll(() => postgres.stop());

let folder: string;
let url: string;
beforeEach(async () => {
  folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  url = await postgres.createDatabase();
});

const log = createLog('silent');
const file = () => join(folder, 'data', 'card-checkout.sqlite');

/** Recorded in both tables, as a step is that 0.1.0 must refuse. */
const stepOfTheFuture = (oldestVersion: string) =>
  `INSERT INTO schema_steps VALUES (999, 'of the future', '${oldestVersion}', 0);
   INSERT INTO migrations VALUES (999, 'of the future', 0)`;

/** A database of each engine with the first migration only and an account, and everything in it. */
const engines = {
  SQLite: {
    configure: () => readConfig('sandbox', { DATA_DIR: join(folder, 'data') }),
    async makeOlder() {
      inSqliteFile(file(), (database) => {
        migrateSqlite(database, file(), migrations.SQLite.slice(0, 1), () => 1);
        // A database as a copy tool may leave it: opening it would turn the log on.
        database.exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 7');
      });
    },
    makeNewer: async (oldestVersion: string) =>
      inSqliteFile(file(), (database) => database.exec(stepOfTheFuture(oldestVersion))),
    /** Every file of the data folder, by its contents. */
    read: async () =>
      readdirSync(join(folder, 'data')).map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, 'data', name)))
          .digest('hex'),
      ]),
  },
  PostgreSQL: {
    configure: () => readConfig('sandbox', { DATA_DIR: join(folder, 'data'), DATABASE_URL: url }),
    makeOlder: () => migratePostgres(url, migrations.PostgreSQL.slice(0, 1), () => 1),
    makeNewer: (oldestVersion: string) => postgres.query(url, stepOfTheFuture(oldestVersion)),
    read: () =>
      postgres.query(
        url,
        `SELECT (SELECT json_agg(migrations) FROM migrations)::text AS migrations,
           (SELECT json_agg(columns ORDER BY table_name, column_name) FROM information_schema.columns
            WHERE table_schema = 'public')::text AS columns`,
      ),
  },
};
const newest = migrations.SQLite.length;
const pending = migrations.SQLite.slice(1).map(({ number, name, oldestVersion, lock }) => ({
  number,
  name,
  oldest_version: oldestVersion,
  lock,
}));

describe.each(Object.entries(engines))('a database of an older version in %s', (_, engine) => {
  it('is refused by commands with what to run, and left as it is', async () => {
    await engine.makeOlder();
    const before = await engine.read();
    for (const name of ['account list', 'database show', 'verify', 'provider list']) {
      const refused = runOperationAnywhere(engine.configure(), name, { offline: true });
      await expect(refused, name).rejects.toThrow(StoreOutdatedError);
      await expect(refused).rejects.toThrow(
        /has schema 1, and this version needs \d+: .*`card-checkout migrate`/,
      );
    }
    await expect(
      moveStore(
        engine.configure(),
        engine === engines.SQLite
          ? { from: 'sqlite', to: url }
          : { from: 'postgres', to: join(folder, 'new.sqlite') },
      ),
    ).rejects.toThrow(StoreOutdatedError);
    expect(await engine.read()).toEqual(before);
  });

  it('is migrated by `migrate`, which says before and after what it does, and with --plan does nothing', async () => {
    await engine.makeOlder();
    const before = await engine.read();
    const said: string[] = [];
    const run = (isPlan: boolean) =>
      migrateDatabase(engine.configure(), isPlan, (sentence) => said.push(sentence));
    const plan = { schema: 1, newest_schema: newest, migrations: pending, migrated: false };
    expect(await run(true)).toMatchObject(plan);
    expect(said).toEqual([]);
    expect(await engine.read()).toEqual(before);
    expect(await run(false)).toMatchObject({ ...plan, schema: newest, migrated: true });
    expect(said).toEqual([
      expect.stringMatching(
        `is migrated from schema 1 to ${newest}: 2 \\(.*Versions from 0\\.1\\.0 on run on it`,
      ),
    ]);
    expect(await run(false)).toMatchObject({ schema: newest, migrations: [], migrated: false });
    expect(said).toHaveLength(1);
    expect(await runOperationAnywhere(engine.configure(), 'account list', {})).toEqual([]);
  });

  it('is migrated by init, which says so', async () => {
    await engine.makeOlder();
    const said: string[] = [];
    const announce = (sentence: string) => said.push(sentence);
    expect(await initDatabase(engine.configure(), announce)).toMatchObject({
      created: false,
      migrations: pending,
    });
    expect(said).toEqual([expect.stringContaining('is migrated from schema 1')]);
    await expect(migrateDatabase(engine.configure(), true, announce)).resolves.toMatchObject({
      migrations: [],
    });
  });

  it('is migrated by a start, whose log says so before and after', async () => {
    await engine.makeOlder();
    const logged: unknown[] = [];
    const store = await openStoreToServe(
      engine.configure(),
      Object.assign(createLog('silent'), { info: (line: unknown) => logged.push(line) }),
    );
    // While it runs there is nothing to migrate, and whoever asks is told so.
    await expect(migrateDatabase(engine.configure(), false, () => {})).resolves.toMatchObject({
      migrated: false,
    });
    await store.close();
    expect(logged).toEqual([
      expect.stringContaining('is migrated from schema 1'),
      'the database has the schema of this version',
    ]);
  });

  it('of a newer version that this one runs beside serves it, and is not moved without what it has more', async () => {
    await engine.makeOlder();
    const config = engine.configure();
    await initDatabase(config);
    await engine.makeNewer('0.1.0');
    const store = await openStoreToServe(config, log);
    await store.close();
    expect(await runOperationAnywhere(config, 'account list', {})).toEqual([]);
    expect(await migrateDatabase(config, true, () => {})).toMatchObject({
      schema: 999,
      migrations: [],
    });
    const target = engine === engines.SQLite ? url : join(folder, 'new.sqlite');
    const from = engine === engines.SQLite ? 'sqlite' : 'postgres';
    await expect(moveStore(config, { from, to: target })).rejects.toThrow(StoreTooNewError);
  });

  it('of a newer version is refused by all of them', async () => {
    await engine.makeOlder();
    await initDatabase(engine.configure());
    await engine.makeNewer('99.0.0');
    const before = await engine.read();
    const config = engine.configure();
    const announce = () => {};
    for (const command of [
      () => runOperationAnywhere(config, 'account list', {}),
      () => initDatabase(config),
      () => migrateDatabase(config, true, announce),
      () => migrateDatabase(config, false, announce),
      () => openStoreToServe(config, log),
    ])
      await expect(command()).rejects.toThrow(StoreTooNewError);
    expect((await engine.read()).slice(0, 1)).toEqual(before.slice(0, 1));
  });
});

it('a server that has an older SQLite database open keeps `migrate` away, and --plan answers beside it', async () => {
  await engines.SQLite.makeOlder();
  const lock = new DatabaseSync(`${file()}.lock`);
  lock.exec('BEGIN EXCLUSIVE');
  const config = engines.SQLite.configure();
  const run = (isPlan: boolean) => migrateDatabase(config, isPlan, () => {});
  await expect(run(false)).rejects.toThrow(StoreInUseError);
  expect(await run(true)).toMatchObject({ migrations: pending });
  lock.close();
});

it('an older SQLite database is backed up as it is, before it is migrated', async () => {
  await engines.SQLite.makeOlder();
  inSqliteFile(file(), (database) => {
    const columns = database
      .prepare(
        'SELECT name, "notnull", type FROM pragma_table_info(\'accounts\') WHERE "notnull" = 1 AND dflt_value IS NULL',
      )
      .all();
    const values = columns.map(({ type }) => (type === 'TEXT' ? "'[]'" : '0'));
    database.exec(
      `INSERT INTO accounts (${columns.map(({ name }) => name).join(', ')}) VALUES (${values.join(', ')})`,
    );
  });
  const before = await engines.SQLite.read();
  const copy = join(folder, 'copy.sqlite');
  expect(await backUp(engines.SQLite.configure(), copy)).toMatchObject({ file: copy });
  expect((await engines.SQLite.read()).filter(([name]) => name === 'card-checkout.sqlite')).toEqual(
    before.filter(([name]) => name === 'card-checkout.sqlite'),
  );
});
