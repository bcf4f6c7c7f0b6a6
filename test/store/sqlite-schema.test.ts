import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnknownStateError } from '../../src/payment/errors.ts';
import { findSchema, migrate, migrations } from '../../src/store/sqlite/migrations.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { StoreTooNewError, UnreleasedSchemaError } from '../../src/store/store-errors.ts';
import { DAY_MS, givePayment, leave, NOW_MS, newPayment, newRecord } from './fixtures.ts';
import { block, depositOf, scan } from './observations.ts';
import { nextMigration, unreleasedSchema } from './versions.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-schema-'));
  file = join(folder, 'checkout.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Uses the file directly, as no store does. */
function withDatabase<T>(use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

const tables = (database: DatabaseSync) =>
  database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map((row) => row.name as string);

describe('the schema', () => {
  it('written by a newer version is refused and left alone', async () => {
    await (await openSqliteStore({ file })).close();
    withDatabase((database) => database.exec("INSERT INTO migrations VALUES (999, 'of the future', 0)"));
    const opening = openSqliteStore({ file });
    await expect(opening).rejects.toThrow(StoreTooNewError);
    await expect(opening).rejects.toMatchObject({ foundMigration: 999, knownMigration: migrations.length });
  });

  it('applies each migration once, in order, and none by half', () => {
    const first = { number: 1, name: 'first', sql: 'CREATE TABLE one (x)' };
    const bad = { number: 2, name: 'bad', sql: 'CREATE TABLE two (x); CREATE TABLE one (x)' };
    withDatabase((database) => {
      expect(() => migrate(database, file, [first, bad], () => 1)).toThrow('migration 2 (bad) failed');
      expect(tables(database)).toEqual(['migrations', 'one']);
      migrate(database, file, [first, { ...bad, sql: 'CREATE TABLE two (x)' }], () => 2);
      migrate(database, file, [first, { ...bad, sql: 'CREATE TABLE two (x)' }], () => 3);
      expect(tables(database)).toEqual(['migrations', 'one', 'two']);
      const applied = database.prepare('SELECT number, applied_at_ms AS at FROM migrations').all();
      expect(applied.map((row) => [row.number, row.at])).toEqual([
        [1, 1],
        [2, 2],
      ]);
      const misplaced = [first, { ...bad, number: 3 }];
      expect(() => migrate(database, file, misplaced, () => 1)).toThrow('not in its place');
    });
  });

  it('made before the first release is refused with what to do, and left alone', async () => {
    withDatabase((database) => database.exec(unreleasedSchema));
    const bytes = readFileSync(file);
    const opening = openSqliteStore({ file });
    await expect(opening).rejects.toThrow(UnreleasedSchemaError);
    await expect(opening).rejects.toThrow(
      `${file} was made by a version from before the first release, and its data cannot be carried over: ` +
        'set DATA_DIR to an empty folder, and make a new database with `card-checkout init`',
    );
    expect(() => findSchema(file)).toThrow(UnreleasedSchemaError);
    expect(withDatabase(tables)).toEqual(['accounts', 'migrations']);
    expect(readFileSync(file).subarray(100)).toEqual(bytes.subarray(100));
  });

  describe('of the next version', () => {
    const upgraded = [...migrations, nextMigration];

    it('keeps all data', async () => {
      const store = await openSqliteStore({ file });
      const payment = await givePayment(store);
      await store.close();
      withDatabase((database) => {
        const before = database.prepare('SELECT * FROM payments').all();
        migrate(database, file, upgraded, () => 2);
        expect(database.prepare('SELECT * FROM payments').all()).toEqual(
          before.map((row) => ({ ...row, color: 'unknown' })),
        );
        expect(database.prepare('SELECT payment_id FROM colors').all()).toEqual([{ payment_id: payment.id }]);
      });
    });

    it('is refused by this version, which serves the backup from before the upgrade', async () => {
      const store = await openSqliteStore({ file });
      const payment = await givePayment(store);
      await store.close();
      copyFileSync(file, `${file}.backup`);
      withDatabase((database) => migrate(database, file, upgraded, () => 2));
      await expect(openSqliteStore({ file })).rejects.toThrow(
        `${file} was written by a newer version (its schema is ${upgraded.length}, this version knows ${migrations.length})`,
      );
      const restored = await openSqliteStore({ file: `${file}.backup` });
      expect(await restored.payments.findPaymentById(payment.id)).toEqual(payment);
      await restored.close();
    });

    it('leaves the schema and the data as they were when its migration fails', async () => {
      const store = await openSqliteStore({ file });
      const payment = await givePayment(store);
      await store.close();
      const failing = {
        ...nextMigration,
        sql: `${nextMigration.sql}; DELETE FROM payments; SELECT no_such_function()`,
      };
      const read = (database: DatabaseSync) => [
        database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all(),
        database.prepare('SELECT * FROM migrations').all(),
      ];
      withDatabase((database) => {
        const before = read(database);
        expect(() => migrate(database, file, [...migrations, failing], () => 2)).toThrow(
          `migration ${failing.number} `,
        );
        expect(read(database)).toEqual(before);
      });
      const reopened = await openSqliteStore({ file });
      expect(await reopened.payments.findPaymentById(payment.id)).toEqual(payment);
      await reopened.close();
    });
  });

  it('makes a create maintain no index but those of the id, of the account and of the deposit address', async () => {
    await (await openSqliteStore({ file })).close();
    const indexes = withDatabase((database) => database.prepare('PRAGMA index_list(payments)').all());
    const complete = indexes.filter((index) => index.partial === 0);
    const columns = withDatabase((database) =>
      complete.map((index) => database.prepare(`PRAGMA index_info(${index.name})`).all()),
    );
    expect(columns.map((each) => each.map(({ name }) => name)).sort()).toEqual([
      ['account_id', 'id'],
      ['deposit_address'],
      ['id'],
    ]);
  });
});

describe('the journal', () => {
  it('takes no entry but the next one, by REPLACE neither', async () => {
    const store = await openSqliteStore({ file });
    const payment = await givePayment(store);
    await store.observations.startCursor(block(10));
    await store.observations.recordScan(scan(10, 12, 12, { deposits: [depositOf(payment, 12)] }), leave);
    await store.close();
    for (const number of [1, 3]) {
      const replace = `REPLACE INTO journal SELECT ${number}, previous_hash, hash, 0, kind, payment_id, '7', token,
        transaction_hash, log_index, block_number FROM journal`;
      expect(() => withDatabase((database) => database.exec(replace))).toThrow('follows on the last one');
    }
  });
});

describe('stored rows', () => {
  it('in a state that does not exist are an error and not a guess', async () => {
    const store = await openSqliteStore({ file });
    const payment = await givePayment(store);
    withDatabase((database) => database.exec("UPDATE payments SET status = 'refunded'"));
    await expect(store.payments.findPaymentById(payment.id)).rejects.toThrow(
      new UnknownStateError(
        `payment ${payment.id}: no such payment state: refunded/pending. If rows were changed, see "Incidents" in docs/operating.md`,
      ),
    );
    await store.close();
  });

  it('of a payment whose own amounts JavaScript could not read back are refused', async () => {
    const store = await openSqliteStore({ file });
    const { accountId } = await givePayment(store);
    for (const paidThresholdUnits of [2n ** 53n, 2n ** 64n, -1n]) {
      await expect(
        store.payments.createPayment(newPayment(accountId, { paidThresholdUnits }), null),
      ).rejects.toThrow();
    }
    await store.close();
  });

  it('of Idempotency-Keys are deleted some time after their 24 hours', async () => {
    const store = await openSqliteStore({ file });
    const { accountId } = await givePayment(store);
    const create = (key: string, createdAtMs: number) =>
      store.payments.createPayment(newPayment(accountId), newRecord(accountId, key, { createdAtMs }));
    for (let index = 0; index < 100; index++) await create(`old ${index}`, NOW_MS);
    for (let index = 0; index < 25; index++) await create(`new ${index}`, NOW_MS + DAY_MS);
    await store.close();
    const keys = withDatabase((database) =>
      database.prepare('SELECT key FROM idempotency_records ORDER BY created_at_ms, length(key), key').all(),
    );
    expect(keys.map((row) => row.key)).toEqual(Array.from({ length: 25 }, (_, index) => `new ${index}`));
  });
});
