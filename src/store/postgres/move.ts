import { setTimeout as delay } from 'node:timers/promises';
import { type Client, types } from 'pg';
import type { Column, Table } from '../columns.ts';
import { type MoveRole, openSide, PORTION_ROWS, type PortableRow } from '../move-tables.ts';
import { MoveRefusedError } from '../store-errors.ts';
import { tables } from '../tables.ts';
import { connectionOptions, DatabaseClient, noTimeout } from './connect.ts';
import { connectByName, migrate, migrations, nameOf, readSchema } from './migrations.ts';
import { namesOf, postgresTypes, type TypedColumn, unnest, valuesByColumn } from './statements.ts';

/** How long a lock is waited for: a program that holds one for longer is at work on the database. */
const LOCK_TIMEOUT_MS = 10_000;
/** How long an instance may take to be gone that has been stopped. */
const DISCONNECTING_MS = 3_000;
const ASKED_AGAIN_MS = 50;
const allTables = tables.map(({ name }) => name).join(', ');

/**
 * Opens the database to move from, or the one to move to, whose tables are made if it has none. Until it is closed no
 * program can write to it.
 *
 * @throws MoveRefusedError while other instances are connected, or for the reasons of `openSide`
 */
export async function openPostgresSide(url: string, role: MoveRole) {
  const client = await connect(url);
  return openSide(
    {
      name: nameOf(client),
      readSchema: () => readSchema(client),
      createTables: () => migrate(url, migrations, Date.now),
      begin: () => begin(client, role),
      hasRows: async (table) => (await rowsOf(client, `SELECT 1 FROM ${table} LIMIT 1`)).length > 0,
      read: (table) => readPortions(client, table),
      insert: (table, rows) => insert(client, table, rows),
      commit: () => commit(client),
      // The end of the connection undoes what was not committed.
      close: () => client.end(),
    },
    role,
  );
}

/** A connection whose statements may take as long as it takes to sort or read a table, and to a database without instances. */
async function connect(url: string): Promise<Client> {
  const client = new DatabaseClient({
    ...connectionOptions(url),
    ...noTimeout,
    application_name: 'card-checkout move-store',
    idle_in_transaction_session_timeout: 0,
    lock_timeout: LOCK_TIMEOUT_MS,
    types: {
      // As it is: what JavaScript cannot hold exactly must not become equal by rounding.
      getTypeParser: (type, format) =>
        type === types.builtins.INT8 ? BigInt : types.getTypeParser(type, format as 'text'),
    },
  });
  // Between statements a break is noticed by the next one.
  client.on('error', () => {});
  await connectByName(client);
  try {
    await requireUnserved(client);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function begin(client: Client, role: MoveRole): Promise<void> {
  const [isolation, mode] =
    role === 'source' ? ['REPEATABLE READ', 'SHARE'] : ['READ COMMITTED', 'EXCLUSIVE'];
  await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
  // Before the first read: what is read is what there is once all earlier writes have ended.
  await client.query(`LOCK TABLE ${allTables} IN ${mode} MODE`);
}

async function rowsOf(client: Client, text: string): Promise<unknown[][]> {
  return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
}

/**
 * An instance that goes on would write to the side that is left, or has looked at the empty one already. One that was
 * stopped a moment ago may still be listed: PostgreSQL ends its connections when it gets to it.
 */
async function requireUnserved(client: Client): Promise<void> {
  const deadlineMs = performance.now() + DISCONNECTING_MS;
  while (await isServed(client)) {
    if (performance.now() >= deadlineMs) {
      throw new MoveRefusedError(
        `${nameOf(client)} is in use: card-checkout is connected to it; stop every instance first`,
      );
    }
    await delay(ASKED_AGAIN_MS);
  }
}

async function isServed(client: Client): Promise<boolean> {
  const others = await rowsOf(
    client,
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'card-checkout' AND pid <> pg_backend_pid()`,
  );
  return others.length > 0;
}

async function* readPortions(
  client: Client,
  { name, columns, orderedBy }: Table,
): AsyncGenerator<readonly unknown[][]> {
  const order = orderedBy.map((key) => {
    // By their bytes, whatever language the database sorts by.
    return columns.find((column) => column.name === key)?.kind === 'text' ? `${key} COLLATE "C"` : key;
  });
  const select = `SELECT ${columns.map(expressionOf).join(', ')} FROM ${name} ORDER BY ${order.join(', ')}`;
  await client.query(`DECLARE portions NO SCROLL CURSOR FOR ${select}`);
  for (;;) {
    const rows = await rowsOf(client, `FETCH ${PORTION_ROWS} FROM portions`);
    if (rows.length === 0) break;
    yield rows;
  }
  // Not when something failed: the transaction is over then, and the cursor with it.
  await client.query('CLOSE portions');
}

function expressionOf({ name, kind }: Column): string {
  if (kind === 'texts') return `to_json(${name})`;
  // As it is stored; the driver would parse it.
  return kind === 'json' ? `${name}::text` : name;
}

async function insert(client: Client, { name, columns }: Table, rows: readonly PortableRow[]): Promise<void> {
  const given = columns.map((column): TypedColumn => [column.name, postgresTypes[column.kind]]);
  const values = columns.map((column) =>
    column.kind === 'texts'
      ? `CASE WHEN ${column.name} IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(${column.name})) END`
      : column.name,
  );
  await client.query(
    `INSERT INTO ${name} (${namesOf(given)}) SELECT ${values.join(', ')} FROM ${unnest('carried', given)}`,
    valuesByColumn(given, rows),
  );
}

async function commit(client: Client): Promise<void> {
  for (const { name, numberedBy } of tables) {
    if (numberedBy === null) continue;
    const [row] = await rowsOf(client, `SELECT max(${numberedBy}) FROM ${name}`);
    const highest = row?.[0] as bigint | null;
    // Unlike setval, this is undone with the transaction.
    if (highest !== null)
      await client.query(`ALTER TABLE ${name} ALTER COLUMN ${numberedBy} RESTART WITH ${highest + 1n}`);
  }
  // The first server must not plan its queries for empty tables.
  await client.query(`ANALYZE ${allTables}`);
  try {
    await client.query('COMMIT');
  } catch (error) {
    throw new Error(
      'the database did not confirm the end of the move: everything was carried over or nothing; ' +
        'run the command again, which refuses a database that is not empty',
      { cause: error },
    );
  }
}
