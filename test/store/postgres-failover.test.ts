import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { migrations } from '../../src/app/migrations.ts';
import { openPostgresStore } from '../../src/app/store/postgres-store.ts';
import { tables } from '../../src/app/store/store.ts';
import { connectionOptions } from '../../src/store/postgres/connect.ts';
import { findSchema } from '../../src/store/postgres/migrations.ts';
import { openPostgresSide } from '../../src/store/postgres/move.ts';
import { type Database, openDatabase } from '../../src/store/postgres/open-database.ts';
import { statement } from '../../src/store/postgres/statements.ts';
import { StoreWriteError } from '../../src/store/store-errors.ts';
import { type CutOff, startCutOff } from '../support/cut-off.ts';
import { startPostgres } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';
import { givePayment } from './fixtures.ts';

const primary = await startPostgres(['fsync=off', 'shared_buffers=32MB', 'wal_keep_size=256MB']);
const url = await primary.createDatabase();
await primary.query(url, 'CREATE TABLE notes (id integer)');
const standby = await primary.startStandby();
afterAll(async () => {
  await standby.stop();
  await primary.stop();
});

/** Longer than any statement of these tests takes, and shorter than anybody waits. */
const QUERY_TIMEOUT_MS = 1_500;
const BOUND_MS = 20_000;
const { pathname } = new URL(url);
const urlOf = (...ports: readonly number[]) =>
  `postgres://checkout@${ports.map((port) => `127.0.0.1:${port}`).join(',')}${pathname}?target_session_attrs=read-write`;
const readPort = statement("SELECT current_setting('port')::integer AS port");
const insertNote = statement('INSERT INTO notes VALUES (1)');

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function connectTo(to: string, connections = 1): Database {
  const database = openDatabase(to, connections, () => {}, { query_timeout: QUERY_TIMEOUT_MS });
  open.push(database);
  return database;
}

async function portOf(database: Database): Promise<number | undefined> {
  return (await database.query<{ port: number }>(readPort))[0]?.port;
}

async function startProxy(port: number): Promise<CutOff> {
  const proxy = await startCutOff(port);
  open.push(proxy);
  return proxy;
}

describe('a server that is cut off', () => {
  it('fails a statement within its time, and the next one gets another connection', async () => {
    const proxy = await startProxy(primary.port);
    const database = connectTo(urlOf(proxy.port));
    expect(await portOf(database)).toBe(primary.port);
    proxy.cut();
    const startMs = performance.now();
    await expect(database.query(readPort)).rejects.toThrow(StoreWriteError);
    expect(performance.now() - startMs).toBeLessThan(2 * QUERY_TIMEOUT_MS);
    proxy.mend();
    expect(await portOf(database)).toBe(primary.port);
  });

  it('fails a transaction once, without a rollback that would hang as well', async () => {
    const proxy = await startProxy(primary.port);
    const database = connectTo(urlOf(proxy.port));
    const startMs = performance.now();
    const transaction = database.transaction(async (connection) => {
      proxy.cut();
      await connection.query(insertNote);
    });
    await expect(transaction).rejects.toThrow(StoreWriteError);
    expect(performance.now() - startMs).toBeLessThan(2 * QUERY_TIMEOUT_MS);
  });

  it('is given less time by the server than by the client, and by neither in a migration', () => {
    const { query_timeout, statement_timeout } = connectionOptions(url);
    expect(query_timeout).toBeGreaterThan(Number(statement_timeout));
  });
});

describe('a list of hosts', () => {
  it('leads to the server that accepts writes, wherever it stands', async () => {
    expect(await portOf(connectTo(urlOf(primary.port, standby.port)))).toBe(primary.port);
    expect(await portOf(connectTo(urlOf(standby.port, primary.port), 5))).toBe(primary.port);
  });

  it('passes over a host that is down, and one that never answers, within its time', async () => {
    const silent = await startProxy(primary.port);
    silent.cut();
    const startMs = performance.now();
    expect(await portOf(connectTo(urlOf(1, silent.port, primary.port)))).toBe(primary.port);
    expect(performance.now() - startMs).toBeLessThan(BOUND_MS);
  });

  it('names every host and its reason where none accepts writes', async () => {
    const failed = connectTo(urlOf(standby.port, 1)).query(readPort);
    const reasons = `127.0.0.1:${standby.port}: a standby, 127.0.0.1:1: ECONNREFUSED`;
    await expect(failed).rejects.toMatchObject({
      cause: { message: `no host of DATABASE_URL accepts writes (${reasons})` },
    });
  });

  it('serves the store, its migrations and the schema check', async () => {
    const own = (await primary.createDatabase()).replace(
      `:${primary.port}`,
      `:${standby.port},127.0.0.1:${primary.port}`,
    );
    const store = await openPostgresStore({ url: own });
    const payment = await givePayment(store);
    expect(await store.payments.findPaymentById(payment.id)).toEqual(payment);
    await store.close();
    expect((await findSchema(own, migrations.PostgreSQL)).pending).toEqual([]);
    const layout = { migrations: migrations.PostgreSQL, tables };
    const source = await openPostgresSide(own, 'source', layout);
    await source.close();
    const empty = (await primary.createDatabase()).replace(
      `:${primary.port}`,
      `:1,127.0.0.1:${primary.port}`,
    );
    const target = await openPostgresSide(empty, 'target', layout);
    await target.close();
  });
});

describe('a connection to a standby', () => {
  it('is dropped where it refuses a write, and where it refuses a transaction', async () => {
    const database = connectTo(`postgres://checkout@127.0.0.1:${standby.port}${pathname}`);
    const readPid = statement('SELECT pg_backend_pid() AS pid');
    const pid = async () => (await database.query<{ pid: number }>(readPid))[0]?.pid;
    await waitFor('the table on the standby', BOUND_MS, async () => {
      const [row] = await standby.query(urlOf(standby.port), "SELECT to_regclass('notes') AS found");
      return row?.['found'] !== null;
    });
    const before = await pid();
    expect(await pid()).toBe(before);
    await expect(database.query(insertNote)).rejects.toThrow(StoreWriteError);
    const between = await pid();
    expect(between).not.toBe(before);
    await expect(database.transaction(async () => {})).rejects.toThrow(StoreWriteError);
    expect(await pid()).not.toBe(between);
  });
});

it('names a missing synchronous standby where a commit waits for one, and goes on when it is not required any more', async () => {
  const database = connectTo(urlOf(primary.port));
  await database.query(readPort);
  const set = async (sql: string) => {
    await primary.query(urlOf(primary.port), sql);
    await primary.query(urlOf(primary.port), 'SELECT pg_reload_conf()');
  };
  await set("ALTER SYSTEM SET synchronous_standby_names = 'absent'");
  try {
    await waitFor('a commit that waits', BOUND_MS, () =>
      database.query(insertNote).then(
        () => false,
        (error: Error) => error.message.includes('a commit can wait for a missing synchronous standby'),
      ),
    );
  } finally {
    await set('ALTER SYSTEM RESET synchronous_standby_names');
  }
  expect(await database.query(insertNote)).toEqual([]);
});

// The last one: it takes the primary away.
it('goes on at the standby when the primary is killed and the standby promoted', async () => {
  const database = connectTo(urlOf(primary.port, standby.port), 3);
  const isWritable = () =>
    database.query(insertNote).then(
      () => true,
      () => false,
    );
  expect(await isWritable()).toBe(true);
  await primary.kill();
  // Its connections outlive it by a moment.
  await waitFor('a failed write', BOUND_MS, () => isWritable().then((is) => !is));
  await standby.query(urlOf(standby.port), 'SELECT pg_promote()');
  await waitFor('a write', BOUND_MS, isWritable);
  expect(await portOf(database)).toBe(standby.port);
});
