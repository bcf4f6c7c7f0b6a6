import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/app/log.ts';
import { initDatabase } from '../../src/app/open-store.ts';
import { runOperationAnywhere } from '../../src/app/run-operation.ts';
import { readConfig } from '../../src/config.ts';
import { UnknownStateError } from '../../src/domain/errors.ts';
import { migrate, migrations } from '../../src/store/postgres/migrations.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { StoreTooNewError } from '../../src/store/store-errors.ts';
import { startPostgres } from '../support/postgres.ts';
import { insertEarlierPayments, upgradedRows, upgradedSql } from './earlier-payments.ts';
import { atOnce, DAY_MS, givePayment, NOW_MS, newPayment, newRecord } from './fixtures.ts';

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
  const config = readConfig('sandbox', { DATABASE_URL: url, DATA_DIR: join(tmpdir(), 'card-checkout-none') });
  await expect(runOperationAnywhere(config, 'account list', {})).rejects.toThrow(
    /^the database \w+ on [\w.]+ has no tables of card-checkout: check DATABASE_URL, .* `card-checkout init`$/,
  );
  expect(await tables()).toEqual([]);
  expect(await initDatabase(config, createLog('silent'))).toMatchObject({ created: true });
  expect(await runOperationAnywhere(config, 'account list', {})).toEqual([]);
  expect(await initDatabase(config, createLog('silent'))).toMatchObject({ created: false });
});

describe('the schema', () => {
  it('of a released migration is never edited', () => {
    const digests = migrations.map(({ sql }) => createHash('sha256').update(sql).digest('hex').slice(0, 16));
    expect(digests).toEqual([
      '53ec3a34c2d90c63',
      '55481e1864fe1912',
      '5f7867a2e383fd3f',
      '6ab06a184d355397',
      'a349c8f08db92eef',
      'a87b037cda3190a5',
      'ec9d84686ad199a0',
      '10534fa411b9390f',
      '224622995d766814',
      'f31d96ab8ee5bf74',
      '3e2c211bf88c56dc',
      '4f5a6e2d6128675e',
      '5a283205cecd7b30',
      'ded6790aa666fb64',
      '06abc2b8008dbbec',
      '18745ac67a8c3ac1',
      '607f640f6199cfc4',
      '9036298add72d1fc',
      '84d0d99421aa5c84',
      'e499d52cceace3a2',
      '846138e6122ca242',
      '95afbdf10932c851',
    ]);
  });

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

  it('fills in what was seen of payments from before it was kept, and leaves their threshold', async () => {
    const index = migrations.findIndex(({ name }) => name.startsWith('the terms of the paid threshold'));
    expect(index).toBeGreaterThan(0);
    await migrate(url, migrations.slice(0, index), () => 1);
    await query(insertEarlierPayments({ no: 'false', noNames: "'{}'", isByAccount: true }));
    await migrate(url, migrations, () => 2);
    const rows = await query(upgradedSql);
    const texts = rows.map((row) =>
      Object.values(row).map((value) => (value === null ? null : String(value))),
    );
    expect(texts).toEqual(upgradedRows);
  });

  it('has the account in the primary key of every table that grows with the payments', async () => {
    await withStore(async () => {});
    const keys = await query(`
      SELECT table_name, string_agg(column_name, ',') AS columns
      FROM information_schema.table_constraints
      JOIN information_schema.key_column_usage USING (constraint_name, table_name)
      WHERE constraint_type = 'PRIMARY KEY' GROUP BY table_name`);
    const columnsOf = new Map(keys.map((row) => [row['table_name'], String(row['columns']).split(',')]));
    const growing = [
      'payments',
      'idempotency_records',
      'provider_sessions',
      'deposits',
      'releases',
      'webhooks',
    ];
    for (const table of growing) expect(columnsOf.get(table), table).toContain('account_id');
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

  it('of a payment whose own amounts JavaScript could not read back are refused, and its neighbours kept', async () => {
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
