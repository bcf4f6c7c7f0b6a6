import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/app/log.ts';
import { initDatabase } from '../../src/app/open-store.ts';
import { runOperationAnywhere } from '../../src/app/run-operation.ts';
import { readConfig } from '../../src/config/config.ts';
import { UnknownStateError } from '../../src/payment/errors.ts';
import { migrate, migrations } from '../../src/store/postgres/migrations.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreTooNewError, UnreleasedSchemaError } from '../../src/store/store-errors.ts';
import { startPostgres } from '../support/postgres.ts';
import { atOnce, DAY_MS, givePayment, NOW_MS, newPayment, newRecord } from './fixtures.ts';
import { nextMigration, unreleasedSchema } from './versions.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let url: string;

beforeEach(async () => {
  url = await postgres.createDatabase();
});
afterEach(() => postgres.dropDatabase(url));

const query = (sql: string) => postgres.query(url, sql);

async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openPostgresStore({ url });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function tables(): Promise<unknown[]> {
  const rows = await query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename");
  return rows.map((row) => row['tablename']);
}

it('is made by init and by no other command', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-init-'));
  const dataDir = join(folder, 'data');
  const config = readConfig('sandbox', { DATABASE_URL: url, DATA_DIR: dataDir });
  await expect(runOperationAnywhere(config, 'account list', {})).rejects.toThrow(
    /^the database \w+ on [\w.]+ has no tables of card-checkout: check DATABASE_URL, .* `card-checkout init`$/,
  );
  expect(await tables()).toEqual([]);
  expect(existsSync(dataDir)).toBe(false);
  expect(await initDatabase(config, createLog('silent'))).toMatchObject({ created: true });
  expect(await runOperationAnywhere(config, 'account list', {})).toEqual([]);
  rmSync(dataDir, { recursive: true });
  expect(await initDatabase(config, createLog('silent'))).toMatchObject({ created: false });
  expect(existsSync(dataDir)).toBe(true);
  rmSync(folder, { recursive: true });
});

describe('the schema', () => {
  it('lets nobody empty the journal', async () => {
    await withStore(async () => {
      await expect(query('TRUNCATE journal')).rejects.toThrow('never changed or removed');
    });
  });

  it('is migrated once by many instances that start at the same time', async () => {
    const stores = await atOnce(12, () => openPostgresStore({ url, poolSize: 2 }));
    await Promise.all(stores.map((store) => store.close()));
    expect(await query('SELECT number FROM migrations ORDER BY number')).toEqual(
      migrations.map(({ number }) => ({ number })),
    );
  });

  it('written by a newer version is refused and left alone', async () => {
    await withStore(async () => {});
    await query("INSERT INTO migrations VALUES (999, 'of the future', 0)");
    const opening = openPostgresStore({ url });
    await expect(opening).rejects.toThrow(StoreTooNewError);
    await expect(opening).rejects.toMatchObject({ foundMigration: 999, knownMigration: migrations.length });
  });

  it('applies each migration once, in order, and none by half', async () => {
    const first = { number: 1, name: 'first', sql: 'CREATE TABLE one (x integer)' };
    const bad = { number: 2, name: 'bad', sql: 'CREATE TABLE two (x integer); CREATE TABLE one (x integer)' };
    const good = { ...bad, sql: 'CREATE TABLE two (x integer)' };
    await expect(migrate(url, [first, bad], () => 1)).rejects.toThrow('migration 2 (bad) failed');
    expect(await tables()).toEqual(['migrations', 'one']);
    await migrate(url, [first, good], () => 2);
    await migrate(url, [first, good], () => 3);
    expect(await tables()).toEqual(['migrations', 'one', 'two']);
    const applied = await query('SELECT number, applied_at_ms AS at FROM migrations ORDER BY number');
    expect(applied.map((row) => [row['number'], Number(row['at'])])).toEqual([
      [1, 1],
      [2, 2],
    ]);
    await expect(migrate(url, [first, { ...good, number: 3 }], () => 1)).rejects.toThrow('not in its place');
  });

  it('made before the first release is refused with what to do, by every command, and left alone', async () => {
    await query(unreleasedSchema);
    const name = new URL(url).pathname.slice(1);
    const refusal =
      `the database ${name} on ${new URL(url).hostname} was made by a version from before the first release, ` +
      'and its data cannot be carried over: set DATABASE_URL to an empty database, ' +
      'and make a new database with `card-checkout init`';
    const opening = openPostgresStore({ url });
    await expect(opening).rejects.toThrow(UnreleasedSchemaError);
    await expect(opening).rejects.toThrow(refusal);
    const config = readConfig('sandbox', {
      DATABASE_URL: url,
      DATA_DIR: join(tmpdir(), 'card-checkout-none'),
    });
    await expect(initDatabase(config, createLog('silent'))).rejects.toThrow(refusal);
    await expect(runOperationAnywhere(config, 'account list', {})).rejects.toThrow(refusal);
    expect(await tables()).toEqual(['accounts', 'migrations']);
  });

  describe('of the next version', () => {
    const upgraded = [...migrations, nextMigration];

    it('keeps all data', async () => {
      const payment = await withStore((store) => givePayment(store));
      const before = await query('SELECT * FROM payments');
      await migrate(url, upgraded, () => 2);
      expect(await query('SELECT * FROM payments')).toEqual(
        before.map((row) => ({ ...row, color: 'unknown' })),
      );
      expect(await query('SELECT payment_id FROM colors')).toEqual([{ payment_id: payment.id }]);
    });

    it('is refused by this version, which serves the copy from before the upgrade', async () => {
      const payment = await withStore((store) => givePayment(store));
      const copy = await postgres.copyDatabase(url);
      await migrate(url, upgraded, () => 2);
      await expect(openPostgresStore({ url })).rejects.toThrow(
        `was written by a newer version (its schema is ${upgraded.length}, this version knows ${migrations.length})`,
      );
      const restored = await openPostgresStore({ url: copy });
      expect(await restored.payments.findPaymentById(payment.id)).toEqual(payment);
      await restored.close();
      await postgres.dropDatabase(copy);
    });

    it('leaves the schema and the data as they were when its migration fails', async () => {
      const payment = await withStore((store) => givePayment(store));
      const failing = { ...nextMigration, sql: `${nextMigration.sql}; DELETE FROM payments; SELECT 1 / 0` };
      const read = () =>
        Promise.all([
          query(`SELECT table_name, column_name, data_type FROM information_schema.columns
                 WHERE table_schema = 'public' ORDER BY table_name, column_name`),
          query("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname"),
          query('SELECT * FROM migrations'),
        ]);
      const before = await read();
      await expect(migrate(url, [...migrations, failing], () => 2)).rejects.toThrow(
        `migration ${failing.number} `,
      );
      expect(await read()).toEqual(before);
      await withStore(async (store) =>
        expect(await store.payments.findPaymentById(payment.id)).toEqual(payment),
      );
    });
  });
});

describe('stored rows', () => {
  it('in a state that does not exist are an error of those alone who ask for them', async () => {
    await withStore(async (store) => {
      const [strange, sound] = [await givePayment(store), await givePayment(store)];
      await query(`UPDATE payments SET status = 'refunded' WHERE id = '${strange.id}'`);
      const [refused, found] = await Promise.allSettled(
        [strange, sound].map(({ id }) => store.payments.findPaymentById(id)),
      );
      expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(UnknownStateError) });
      expect(found).toEqual({ status: 'fulfilled', value: sound });
    });
  });

  it('of a payment whose own amounts JavaScript could not read back are refused, and its neighbors kept', async () => {
    await withStore(async (store) => {
      const { accountId } = await givePayment(store);
      const payments = [1n, 2n ** 53n, 2n, 2n ** 64n, 3n, -1n].map((paidThresholdUnits) =>
        newPayment(accountId, { paidThresholdUnits }),
      );
      const outcomes = await Promise.allSettled(
        payments.map((payment) => store.payments.createPayment(payment, null)),
      );
      expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([
        true,
        false,
        true,
        false,
        true,
        false,
      ]);
    });
  });

  it('of Idempotency-Keys are deleted some time after their 24 hours', async () => {
    await withStore(async (store) => {
      const { accountId } = await givePayment(store);
      const create = (key: string, createdAtMs: number) =>
        store.payments.createPayment(newPayment(accountId), newRecord(accountId, key, { createdAtMs }));
      for (let index = 0; index < 100; index++) await create(`old ${index}`, NOW_MS);
      for (let index = 0; index < 25; index++) await create(`new ${index}`, NOW_MS + DAY_MS);
    });
    const keys = await query('SELECT key FROM idempotency_records ORDER BY created_at_ms');
    expect(keys.map((row) => row['key']).sort()).toEqual(
      Array.from({ length: 25 }, (_, index) => `new ${index}`).sort(),
    );
  });
});
