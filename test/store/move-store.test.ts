import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../src/app/migrations.ts';
import { moveStore } from '../../src/app/move-store.ts';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { tables } from '../../src/app/store/store.ts';
import { PORTION_ROWS } from '../../src/store/move-tables.ts';
import {
  MoveRefusedError,
  StoreInUseError,
  StoreTooNewError,
  UnreleasedSchemaError,
} from '../../src/store/store-errors.ts';
import { freePorts } from '../support/free-ports.ts';
import { startPostgres } from '../support/postgres.ts';
import { inSqliteFile } from '../support/sqlite-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { comparable, drawnRows, insertDrawn } from './drawn-rows.ts';
import {
  givePayment,
  givePayments,
  leave,
  newBatch,
  newPayment,
  newSession,
  pay,
  withStore,
} from './fixtures.ts';

/** There and back, on a busy machine; one takes half a second. */
const LONGEST_MOVE_MS = 60_000;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let folder: string;
let file: string;
let url: string;

beforeEach(async () => {
  folder = temporaryFolder();
  file = join(folder, 'card-checkout.sqlite');
  url = await postgres.createDatabase();
});
afterEach(() => postgres.dropDatabase(url));

const move = (places: { readonly from?: string; readonly to?: string } = {}) =>
  moveStore({ dataDir: folder, databaseUrl: url }, { from: 'sqlite', to: 'postgres', ...places });
const moveBack = () => move({ from: 'postgres', to: 'sqlite' });
const query = (sql: string) => postgres.query(url, sql);

const withSqlite = <T>(use: (store: Store) => Promise<T>) => withStore(openSqliteStore({ file }), use);
const withPostgres = <T>(use: (store: Store) => Promise<T>) => withStore(openPostgresStore({ url }), use);

/** Payments with something in every table around them. */
async function givePaidPayments(store: Store, count = 3) {
  const payments = await givePayments(store, count);
  const [first] = payments;
  if (first === undefined) throw new Error('at least one');
  const from = { number: 1, hash: '0x1', timestampMs: 1 };
  const owner = { paymentId: first.id, accountId: first.accountId };
  const deposit = { ...owner, transactionHash: '0xa', logIndex: 0, blockNumber: 2, units: 5n };
  const final = { number: 2, hash: '0x2', timestampMs: 2 };
  await store.observations.startCursor(from);
  await store.observations.recordScan(
    { from, final, scannedTo: 2, deposits: [deposit], releases: [] },
    leave,
  );
  await store.payments.addSession(newSession(first), leave);
  await store.payments.decidePayment(first.id, pay);
  await store.relay.openBatch(newBatch([first]), leave);
  return payments;
}

async function countRows(): Promise<number> {
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM ${name})`).join(' + ');
  const [row] = await query(`SELECT ${counts} AS count`);
  return Number(row?.['count']);
}

function countSqliteRows(): number {
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM ${name})`).join(' + ');
  return inSqliteFile(file, (database) => Number(database.prepare(`SELECT ${counts} AS count`).get()?.count));
}

/** Lets the inserts into a table do something else on PostgreSQL; `body` is PL/pgSQL. */
async function plant(table: string, body: string): Promise<void> {
  await withPostgres(async () => {});
  await query(`
    CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER planted BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION planted()`);
}

describe('moving a store', () => {
  it('carries whatever the tables can hold to PostgreSQL and back again, the same to the last value', async () => {
    /** All rows by table, whatever their order. */
    const readAll = async (read: (sql: string) => Promise<Readonly<Record<string, unknown>>[]>) => {
      const all: Record<string, string[]> = {};
      for (const { name, columns } of tables) {
        const rows = await read(`SELECT ${columns.map((column) => column.name)} FROM ${name}`);
        const values = rows.map((row) => columns.map((column) => comparable(column, row[column.name])));
        all[name] = values.map((row) => JSON.stringify(row)).sort();
      }
      return all;
    };
    const readSqlite = (at: string) =>
      readAll(async (sql) =>
        inSqliteFile(at, (database) => {
          const statement = database.prepare(sql);
          statement.setReadBigInts(true);
          return statement.all();
        }),
      );
    const carried = new Set<string>();
    await fc.assert(
      fc.asyncProperty(drawnRows, async (drawn) => {
        const [there, back] = [await postgres.createDatabase(), mkdtempSync(join(folder, 'run-'))];
        const [original, copy] = [join(back, 'original.sqlite'), join(back, 'copy.sqlite')];
        await withStore(openSqliteStore({ file: original }), async () => {});
        inSqliteFile(original, (database) => insertDrawn(database, drawn));
        const before = await readSqlite(original);
        const moved = await move({ from: original, to: there });
        expect(moved.moved).toBe(true);
        expect(await readAll((sql) => postgres.query(there, sql))).toEqual(before);
        expect(await move({ from: there, to: copy })).toEqual(moved);
        expect(await readSqlite(copy)).toEqual(before);
        for (const [table, rows] of Object.entries(before)) if (rows.length > 0) carried.add(table);
        await postgres.dropDatabase(there);
      }),
      // A failure is shown as it is: looking for a smaller one takes longer than the test may.
      { numRuns: 6, endOnFailure: true, timeout: LONGEST_MOVE_MS },
    );
    expect(carried.size).toBe(tables.length);
  });

  it('carries more than one portion, in both directions, and leaves the source as it was', async () => {
    const count = 2 * PORTION_ROWS + 1;
    await withSqlite((store) => givePaidPayments(store, count));
    const { tables } = await move();
    expect(tables.find(({ table }) => table === 'payments')).toMatchObject({
      source_rows: count,
      target_rows: count,
      equal: true,
    });
    rmSync(file);
    expect((await moveBack()).tables).toEqual(tables);
    expect(await withSqlite((store) => store.payments.listPaymentIds('', '~', 10_000))).toHaveLength(count);
    expect(await countRows()).toBe(countSqliteRows());
  });

  it('lets new payments and batches go on with the next numbers, and the watcher find all of them', async () => {
    const payments = await withSqlite((store) => givePaidPayments(store, 5));
    const account = payments[0]?.accountId as string;
    const goOn = async (store: Store, batchId: number) => {
      const payment = newPayment(account);
      await store.payments.createPayment(payment, null);
      const addresses = [...payments, payment].map(({ depositAddress }) => depositAddress);
      expect(await store.payments.findDepositOwners(addresses)).toHaveLength(6);
      const batch = newBatch([payment], { relayer: `relayer of ${batchId}` });
      expect(await store.relay.openBatch(batch, leave)).toMatchObject({ id: batchId });
    };
    await move();
    await withPostgres((store) => goOn(store, 2));
    rmSync(file);
    await moveBack();
    await withSqlite((store) => goOn(store, 3));
  });

  it('moves an empty store, whose numbers then begin with 1', async () => {
    await withSqlite(async () => {});
    expect(await move()).toMatchObject({ moved: true });
    await withPostgres(async (store) => {
      const batch = newBatch([await givePayment(store)]);
      expect(await store.relay.openBatch(batch, leave)).toMatchObject({ id: 1 });
    });
  });

  it('knows every table and column of both schemas', async () => {
    await Promise.all([withSqlite(async () => {}), withPostgres(async () => {})]);
    const columns = await query(
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'",
    );
    const onPostgres = columns.map((row) => `${row['table_name']}.${row['column_name']}`);
    const onSqlite = inSqliteFile(file, (database) =>
      database
        .prepare(
          `SELECT tables.name || '.' || columns.name AS name FROM sqlite_schema AS tables
           JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
        )
        .all()
        .map((row) => String(row.name)),
    );
    const isOwn = (name: string) =>
      !/^(migrations|schema_steps|leases|rate_windows|release_claims|deposit_sums|release_sums)\./.test(
        name,
      ) && !/^(deposits|releases)\.folded$/.test(name);
    const known = tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`));
    expect(known.toSorted()).toEqual(onPostgres.filter(isOwn).sort());
    expect(known.toSorted()).toEqual(onSqlite.filter(isOwn).sort());
  });
});

describe('a move is refused, and nothing is written,', () => {
  it('while a server holds the SQLite file, on either side', async () => {
    await withSqlite(async () => {
      await expect(move()).rejects.toThrow(StoreInUseError);
      await withPostgres(async () => {});
      await expect(moveBack()).rejects.toThrow(StoreInUseError);
    });
    expect(await countRows()).toBe(0);
  });

  it('while an instance is connected to the PostgreSQL database, on either side', async () => {
    await withSqlite((store) => givePaidPayments(store));
    await withPostgres(async (store) => {
      // It connects when it is first asked.
      await store.accounts.listAccounts();
      await expect(move()).rejects.toThrow('is in use: card-checkout is connected to it');
      rmSync(file);
      await expect(moveBack()).rejects.toThrow(MoveRefusedError);
    });
    expect(existsSync(file)).toBe(false);
    expect(await countRows()).toBe(0);
  });

  it('into a database that holds anything, which stays as it is', async () => {
    await withSqlite((store) => givePaidPayments(store));
    await move();
    const rows = await countRows();
    await expect(move()).rejects.toThrow(
      /is not empty \(accounts, payments, .*webhooks, .*state_changes, .*\)/,
    );
    await expect(moveBack()).rejects.toThrow(MoveRefusedError);
    expect([await countRows(), countSqliteRows()]).toEqual([rows, rows]);
    // The journal is guarded against just this.
    await query('ALTER TABLE journal DISABLE TRIGGER USER');
    await query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
    await query("INSERT INTO watermarks VALUES ('expiry', '')");
    await expect(move()).rejects.toThrow('is not empty (watermarks)');
  });

  it('from or to a schema of another version, older or newer', async () => {
    await withSqlite((store) => givePaidPayments(store));
    await withPostgres(async () => {});
    const future = "INSERT INTO migrations VALUES (999, 'of the future', 0)";
    const forget = 'DELETE FROM migrations; DELETE FROM schema_steps';
    inSqliteFile(file, (database) => database.exec(future));
    await expect(move()).rejects.toThrow(StoreTooNewError);
    inSqliteFile(file, (database) => database.exec(forget));
    await expect(move()).rejects.toThrow('has no tables of card-checkout');
    inSqliteFile(file, (database) => database.exec("INSERT INTO migrations VALUES (1, 'from before', 0)"));
    await expect(move()).rejects.toThrow(UnreleasedSchemaError);
    await expect(moveBack()).rejects.toThrow(UnreleasedSchemaError);
    inSqliteFile(file, (database) => {
      database.exec(forget);
      const insert = database.prepare('INSERT INTO migrations VALUES (?, ?, 0)');
      for (const { number, name } of migrations.SQLite) insert.run(number, name);
    });
    await query(future);
    await expect(move()).rejects.toThrow(StoreTooNewError);
    await query(forget);
    await expect(moveBack()).rejects.toThrow('has no tables of card-checkout');
    await query("INSERT INTO migrations VALUES (1, 'from before', 0)");
    await expect(move()).rejects.toThrow(UnreleasedSchemaError);
    await expect(moveBack()).rejects.toThrow(UnreleasedSchemaError);
    expect(await countRows()).toBe(0);
  });

  it('from a file that does not exist, which is not made, or an empty PostgreSQL database', async () => {
    await expect(move()).rejects.toThrow('there is no database');
    expect(existsSync(file)).toBe(false);
    await expect(moveBack()).rejects.toThrow(MoveRefusedError);
  });

  it('to a database that does not answer, by its name', async () => {
    await withSqlite(async () => {});
    const [port] = (await freePorts(1)) as [number];
    const refused = move({ to: `postgres://user:geheim@127.0.0.1:${port}/payments` });
    await expect(refused).rejects.toThrow(
      'could not connect to the database payments on 127.0.0.1 (ECONNREFUSED)',
    );
  });

  it('within one engine, and without a DATABASE_URL where it is meant; no password is repeated', async () => {
    await expect(move({ to: 'sqlite' })).rejects.toThrow('not within one engine');
    await expect(move({ from: url })).rejects.toThrow('not within one engine');
    const none = moveStore({ dataDir: folder, databaseUrl: null }, { from: 'sqlite', to: 'postgres' });
    await expect(none).rejects.toThrow('DATABASE_URL is empty');
    await withSqlite(async () => {});
    const refused = await move({ to: 'postgres://user:geheim@[/x' }).catch((error: Error) => error);
    expect(refused).toBeInstanceOf(MoveRefusedError);
    expect(String(refused)).not.toContain('geheim');
  });

  it('takes a data folder, a file or a URL for a place', async () => {
    await withSqlite((store) => givePaidPayments(store));
    expect(await move({ from: folder, to: url })).toMatchObject({ moved: true });
    rmSync(file);
    expect(await move({ from: url, to: file })).toMatchObject({ moved: true });
  });
});

describe('what is not carried over faithfully', () => {
  it.each([
    ['a changed value', 'payments', "NEW.note := NEW.note || ' '; RETURN NEW;"],
    ['a flag that turned', 'payments', 'NEW.release_requested := NOT NEW.release_requested; RETURN NEW;'],
    ['an amount that is off by one', 'deposits', 'NEW.units := NEW.units + 1; RETURN NEW;'],
    ['a row that is missing', 'webhooks', 'RETURN NULL;'],
    ['a row too many', 'checkpoints', "INSERT INTO watermarks VALUES (NEW.number, 'x'); RETURN NEW;"],
  ])('%s is found in %s, and the target left empty', async (_, table, body) => {
    await withSqlite((store) => givePaidPayments(store));
    await plant(table, body);
    const report = await move();
    expect(report.moved).toBe(false);
    const different = report.tables.filter(({ equal }) => !equal);
    expect(different.map((each) => each.table)).toEqual([table === 'checkpoints' ? 'watermarks' : table]);
    for (const each of different) expect(each.source_digest).not.toBe(each.target_digest);
    expect(await countRows()).toBe(0);
  });

  it('is an error that names the table where a row is refused, and the target is left empty', async () => {
    await withSqlite((store) => givePaidPayments(store));
    inSqliteFile(file, (database) => database.exec("UPDATE deposits SET units = 'many'"));
    await expect(move()).rejects.toThrow(/^deposits could not be carried over, so nothing was: .*many/);
    expect(await countRows()).toBe(0);
    inSqliteFile(file, (database) => database.exec("UPDATE deposits SET units = '5'"));
    expect(await move()).toMatchObject({ moved: true });
  });

  it('in the other direction is found just so', async () => {
    await withSqlite((store) => givePaidPayments(store));
    await move();
    rmSync(file);
    await withSqlite(async () => {});
    inSqliteFile(file, (database) =>
      database.exec(`CREATE TRIGGER planted AFTER INSERT ON webhooks
        BEGIN UPDATE webhooks SET fields = '{}' WHERE id = NEW.id; END`),
    );
    const report = await moveBack();
    expect(report.tables.filter(({ equal }) => !equal).map(({ table }) => table)).toEqual(['webhooks']);
    expect(countSqliteRows()).toBe(0);
    // A whole number that JavaScript would round.
    inSqliteFile(file, (database) => database.exec('DROP TRIGGER planted'));
    await query('UPDATE relay_batches SET nonce = 9007199254740993');
    await expect(moveBack()).rejects.toThrow(
      'relay_batches could not be carried over, so nothing was: 9007199254740993',
    );
    expect(countSqliteRows()).toBe(0);
  });
});

describe('a move that is cut off in the middle leaves the target empty', () => {
  const lock = 'SELECT pg_advisory_lock(1)';

  /** A connection that makes others wait until it ends. */
  async function hold(sql: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    await client.query(sql);
    return client;
  }

  function startMove(from: string, to: string): ChildProcess {
    const command = join(import.meta.dirname, '../../bin/card-checkout.js');
    return spawn(process.execPath, [command, 'move-store', '--from', from, '--to', to], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], DATA_DIR: folder },
    });
  }

  const waiting = (event: string) =>
    waitFor('the move to be in the middle', 60_000, async () => {
      const found = await query(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = 'card-checkout move-store' AND wait_event = '${event}'`,
      );
      return found.length > 0;
    });

  it.each([
    ['SIGKILL', null, /^/],
    ['SIGINT', 130, /\(\d+ of \d+ rows copied\)\. The source is unchanged, and the target is empty\./],
  ] as const)('by %s on the way to PostgreSQL', async (signal, code, sentence) => {
    await withSqlite((store) => givePaidPayments(store));
    await plant('webhooks', 'PERFORM pg_advisory_xact_lock(1); RETURN NEW;');
    const held = await hold(lock);
    const child = startMove(file, url);
    await waiting('advisory');
    const said = text(child.stderr as Readable);
    child.kill(signal);
    if (signal === 'SIGKILL') await once(child, 'exit');
    await held.end();
    if (signal !== 'SIGKILL') expect(await once(child, 'exit')).toEqual([code, null]);
    expect(await said).toMatch(sentence);
    await waitFor('the end of its connection', 60_000, async () => {
      const left = await query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'card-checkout move-store'",
      );
      return left.length === 0;
    });
    expect(await countRows()).toBe(0);
    expect(await move()).toMatchObject({ moved: true });
  });

  it('by kill -9 on the way to SQLite', async () => {
    await withSqlite((store) => givePaidPayments(store));
    await move();
    rmSync(file);
    // Reading webhooks waits: a view takes the place of the table.
    await query(`
      CREATE FUNCTION waiting() RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN ''; END $$;
      ALTER TABLE webhooks RENAME TO webhooks_there;
      CREATE VIEW webhooks AS SELECT * FROM webhooks_there WHERE waiting() = ''`);
    const held = await hold(lock);
    const child = startMove(url, file);
    await waiting('advisory');
    child.kill('SIGKILL');
    await once(child, 'close');
    await held.end();
    expect(countSqliteRows()).toBe(0);
    await query('DROP VIEW webhooks; ALTER TABLE webhooks_there RENAME TO webhooks');
    await waitFor('the end of its connection', 60_000, async () => {
      const left = await query(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'card-checkout move-store'",
      );
      return left.length === 0;
    });
    expect(await moveBack()).toMatchObject({ moved: true });
  });
});
