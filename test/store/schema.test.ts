import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../src/app/migrations.ts';
import { initDatabase } from '../../src/app/open-store.ts';
import { runOperationAnywhere } from '../../src/app/run-operation.ts';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { readConfig } from '../../src/config/config.ts';
import { UnknownStateError } from '../../src/payment/errors.ts';
import type { Migration } from '../../src/store/migration.ts';
import { migrate as migratePostgres } from '../../src/store/postgres/migrations.ts';
import { findSchema, migrate as migrateSqlite } from '../../src/store/sqlite/migrations.ts';
import { UnreleasedSchemaError } from '../../src/store/store-errors.ts';
import { startPostgres } from '../support/postgres.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { DAY_MS, givePayment, leave, NOW_MS, newPayment, newRecord, withStore } from './fixtures.ts';
import { block, depositOf, scan } from './observations.ts';
import { nextMigration, unreleasedSchema } from './versions.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let folder: string;
let file: string;
let url: string;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, 'checkout.sqlite');
  url = await postgres.createDatabase();
});
afterEach(() => postgres.dropDatabase(url));

type Row = Readonly<Record<string, unknown>>;

/** A database of an engine, which tests use directly, as no store does. */
interface Engine {
  open(): Promise<Store>;
  execute(sql: string): Promise<unknown>;
  query(sql: string): Promise<Row[]>;
  migrate(list: readonly Migration[], atMs: number): Promise<void>;
  /** The names of the tables. */
  readonly tables: string;
  copy(): Promise<() => Promise<Store>>;
  /** The database in messages. */
  name(): string;
  readonly wayOut: string;
}

const postgresConfig = (dataDir: string) =>
  readConfig('sandbox', { DATABASE_URL: url, DATA_DIR: join(folder, dataDir) });

const engines: Readonly<Record<'SQLite' | 'PostgreSQL', Engine>> = {
  SQLite: {
    open: () => openSqliteStore({ file }),
    execute: async (sql) => inSqliteFile(file, (database) => database.exec(sql)),
    query: async (sql) =>
      inSqliteFile(file, (database) =>
        database
          .prepare(sql)
          .all()
          .map((row) => ({ ...row })),
      ),
    migrate: async (list, atMs) =>
      inSqliteFile(file, (database) => migrateSqlite(database, file, list, () => atMs)),
    tables: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    async copy() {
      copyFileSync(file, `${file}.backup`);
      return () => openSqliteStore({ file: `${file}.backup` });
    },
    name: () => file,
    wayOut: 'set DATA_DIR to an empty folder',
  },
  PostgreSQL: {
    open: () => openPostgresStore({ url }),
    execute: (sql) => postgres.query(url, sql),
    query: (sql) => postgres.query(url, sql),
    migrate: (list, atMs) => migratePostgres(url, list, () => atMs),
    tables: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    async copy() {
      const copied = await postgres.copyDatabase(url);
      return () => openPostgresStore({ url: copied });
    },
    name: () => `the database ${new URL(url).pathname.slice(1)} on ${new URL(url).hostname}`,
    wayOut: 'set DATABASE_URL to an empty database',
  },
};

describe.each(Object.entries(engines))('the schema in %s', (_, engine) => {
  const tables = async () => (await engine.query(engine.tables)).map(({ name }) => name);
  const giveOne = () => withStore(engine.open(), (store) => givePayment(store));

  it('applies each migration once, in order, and none by half', async () => {
    const kind = { oldestVersion: '0.1.1', lock: 'none' };
    const first = { number: 1, name: 'first', sql: 'CREATE TABLE one (x integer)', ...kind };
    const good = { number: 2, name: 'bad', sql: 'CREATE TABLE two (x integer)', ...kind };
    const bad = { ...good, sql: `${good.sql}; CREATE TABLE one (x integer)` };
    await expect(engine.migrate([first, bad], 1)).rejects.toThrow(/^migration 2 \(bad\) failed: .*one/);
    expect(await tables()).toEqual(['migrations', 'one', 'schema_steps']);
    for (const atMs of [2, 3]) await engine.migrate([first, good], atMs);
    expect(await tables()).toEqual(['migrations', 'one', 'schema_steps', 'two']);
    const applied = await engine.query('SELECT number, applied_at_ms AS at FROM migrations ORDER BY number');
    expect(applied.map(({ number, at }) => `${number} at ${at}`)).toEqual(['1 at 1', '2 at 2']);
  });

  it('made before the first release is refused with what to do, and left alone', async () => {
    await engine.execute(unreleasedSchema);
    const opening = engine.open();
    await expect(opening).rejects.toThrow(UnreleasedSchemaError);
    await expect(opening).rejects.toThrow(
      `${engine.name()} was made by a version from before the first release, and its data cannot be ` +
        `carried over: ${engine.wayOut}, and make a new database with \`card-checkout init\``,
    );
    expect(await tables()).toEqual(['accounts', 'migrations']);
  });

  describe('of the next version', () => {
    const upgraded = [...migrations.PostgreSQL, { ...nextMigration, oldestVersion: '99.0.0' }];

    it('keeps all data', async () => {
      const payment = await giveOne();
      const before = await engine.query('SELECT * FROM payments');
      await engine.migrate(upgraded, 2);
      const after = before.map((row) => ({ ...row, color: 'unknown' }));
      expect(await engine.query('SELECT * FROM payments')).toEqual(after);
      expect(await engine.query('SELECT payment_id FROM colors')).toEqual([{ payment_id: payment.id }]);
    });

    it('is refused by this version, which serves the copy from before the upgrade', async () => {
      const payment = await giveOne();
      const openCopy = await engine.copy();
      await engine.migrate(upgraded, 2);
      await expect(engine.open()).rejects.toThrow(
        `was written by a newer version (its schema is ${upgraded.length}, this version knows ${migrations.PostgreSQL.length})`,
      );
      const found = await withStore(openCopy(), ({ payments }) => payments.findPaymentById(payment.id));
      expect(found).toEqual(payment);
    });
  });
});

describe.each(Object.entries(engines))('stored rows in %s', (_, engine) => {
  it('in a state that does not exist are an error of those alone who ask for them', async () => {
    await withStore(engine.open(), async (store) => {
      const [strange, sound] = [await givePayment(store), await givePayment(store)];
      await engine.execute(`UPDATE payments SET status = 'refunded' WHERE id = '${strange.id}'`);
      await expect(store.payments.findPaymentById(strange.id)).rejects.toThrow(
        new UnknownStateError(
          `payment ${strange.id}: no such payment state: refunded/pending. If rows were changed, see "Incidents" in docs/operating.md`,
        ),
      );
      expect(await store.payments.findPaymentById(sound.id)).toEqual(sound);
    });
  });

  it('of a payment whose own amounts JavaScript could not read back are refused, and its neighbors kept', async () => {
    await withStore(engine.open(), async (store) => {
      const { accountId } = await givePayment(store);
      const units = [1n, 2n ** 53n, 2n, 2n ** 64n, 3n, -1n];
      const outcomes = await Promise.allSettled(
        units.map((paidThresholdUnits) =>
          store.payments.createPayment(newPayment(accountId, { paidThresholdUnits }), null),
        ),
      );
      const kept = units.filter((__, index) => outcomes[index]?.status === 'fulfilled');
      expect(kept).toEqual([1n, 2n, 3n]);
    });
  });

  it('of Idempotency-Keys are deleted some time after their 24 hours', async () => {
    await withStore(engine.open(), async (store) => {
      const { accountId } = await givePayment(store);
      const create = (key: string, createdAtMs: number) =>
        store.payments.createPayment(newPayment(accountId), newRecord(accountId, key, { createdAtMs }));
      for (let index = 0; index < 100; index++) await create(`old ${index}`, NOW_MS);
      for (let index = 0; index < 25; index++) await create(`new ${index}`, NOW_MS + DAY_MS);
    });
    const keys = (await engine.query('SELECT key FROM idempotency_records')).map(({ key }) => key);
    expect(keys.sort()).toEqual(Array.from({ length: 25 }, (__, index) => `new ${index}`).sort());
  });
});

describe('SQLite', () => {
  it('changes no byte of a database from before the first release, which no command opens', async () => {
    inSqliteFile(file, (database) => database.exec(unreleasedSchema));
    const bytes = readFileSync(file);
    await expect(openSqliteStore({ file })).rejects.toThrow(UnreleasedSchemaError);
    expect(() => findSchema(file, migrations.SQLite)).toThrow(UnreleasedSchemaError);
    expect(readFileSync(file).subarray(100)).toEqual(bytes.subarray(100));
  });

  it('maintains no index with a create but those of the id, of the account and of the deposit address', async () => {
    await (await openSqliteStore({ file })).close();
    const columns = inSqliteFile(file, (database) =>
      database
        .prepare('PRAGMA index_list(payments)')
        .all()
        .filter((index) => index.partial === 0)
        .map((index) => database.prepare(`PRAGMA index_info(${index.name})`).all()),
    );
    expect(columns.map((each) => each.map(({ name }) => name)).sort()).toEqual([
      ['account_id', 'id'],
      ['deposit_address'],
      ['id'],
    ]);
  });

  it('takes no entry of the journal but the next one, by REPLACE neither', async () => {
    await withStore(openSqliteStore({ file }), async (store) => {
      const payment = await givePayment(store);
      await store.observations.startCursor(block(10));
      await store.observations.recordScan(scan(10, 12, 12, { deposits: [depositOf(payment, 12)] }), leave);
    });
    for (const number of [1, 3]) {
      const replace = `REPLACE INTO journal SELECT ${number}, previous_hash, hash, 0, kind, payment_id, '7', token,
        transaction_hash, log_index, block_number FROM journal`;
      expect(() => inSqliteFile(file, (database) => database.exec(replace))).toThrow(
        'follows on the last one',
      );
    }
  });
});

describe('PostgreSQL', () => {
  it('has a database made by init and by no other command', async () => {
    const config = postgresConfig('data');
    const { dataDir } = config;
    await expect(runOperationAnywhere(config, 'account list', {})).rejects.toThrow(
      /^the database \w+ on [\w.]+ has no tables of card-checkout: check DATABASE_URL, .* `card-checkout init`$/,
    );
    expect(await engines.PostgreSQL.query(engines.PostgreSQL.tables)).toEqual([]);
    expect(existsSync(dataDir)).toBe(false);
    expect(await initDatabase(config)).toMatchObject({ created: true });
    expect(await runOperationAnywhere(config, 'account list', {})).toEqual([]);
    rmSync(dataDir, { recursive: true });
    expect(await initDatabase(config)).toMatchObject({ created: false });
    expect(existsSync(dataDir)).toBe(true);
  });

  it('has a database from before the first release refused by every command', async () => {
    await postgres.query(url, unreleasedSchema);
    const config = postgresConfig('none');
    for (const command of [
      () => initDatabase(config),
      () => runOperationAnywhere(config, 'account list', {}),
    ])
      await expect(command()).rejects.toThrow(UnreleasedSchemaError);
  });

  it('keeps serving reads while a step waits for another transaction, and the step gives up', async () => {
    await (await openPostgresStore({ url })).close();
    const dump = new Client({ connectionString: url });
    await dump.connect();
    try {
      await dump.query('BEGIN; SELECT count(*) FROM payments');
      const step = { ...nextMigration, sql: 'ALTER TABLE payments ADD COLUMN color text', lock: 'none' };
      const list = [...migrations.PostgreSQL, { ...step, oldestVersion: '0.1.0' }];
      await expect(migratePostgres(url, list, () => 1)).rejects.toThrow(/failed: .*lock timeout/);
      await postgres.query(url, "SET statement_timeout = '1s'; SELECT count(*) FROM payments");
      await dump.query('COMMIT');
      await migratePostgres(url, list, () => 2);
    } finally {
      await dump.end();
    }
  });

  it('lets nobody empty the journal', async () => {
    await (await openPostgresStore({ url })).close();
    await expect(postgres.query(url, 'TRUNCATE journal')).rejects.toThrow('never changed or removed');
  });
});
