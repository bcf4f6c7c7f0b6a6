import { setTimeout as delay } from 'node:timers/promises';
import { type Client, types } from 'pg';
import type { Column, Table } from '../columns.ts';
import type { Layout } from '../migration.ts';
import { type MoveRole, openSide, PORTION_ROWS, type PortableRow, type SideOptions } from '../move-tables.ts';
import { MoveRefusedError } from '../store-errors.ts';
import { connectionOptions, DatabaseClient, noTimeout } from './connect.ts';
import { migrate, nameOf, readSchema } from './migrations.ts';
import { namesOf, typedColumn, unnest, valuesByColumn } from './statements.ts';

/** Lock timeout. If another program holds a lock for longer, the database is in use. */
const LOCK_TIMEOUT_MS = 10_000;
/** Maximum time for which PostgreSQL may still list the connections of a stopped instance. */
const DISCONNECTING_MS = 3_000;
const ASKED_AGAIN_MS = 50;

/** Opens and locks a side of a move. Throws the errors of `openSide`, and an error while instances are connected. */
export async function openPostgresSide(url: string, role: MoveRole, options: SideOptions) {
  const { migrations, tables } = options;
  const client = await connect(url);
  return openSide(
    {
      name: nameOf(client),
      readSchema: () => readSchema(client, migrations),
      createTables: () => migrate(url, migrations, Date.now),
      begin: () => begin(client, role, tables),
      countRows: async (table) => Number((await rowsOf(client, `SELECT count(*) FROM ${table}`))[0]?.[0]),
      read: (table) => readPortions(client, table),
      insert: (table, rows) => insert(client, table, rows),
      commit: () => commit(client, tables),
      close: () => client.end(),
    },
    role,
    options,
  );
}

/** Connects without a statement timeout, because sorting a table may take long. Throws if an instance is connected. */
async function connect(url: string): Promise<Client> {
  const client = new DatabaseClient({
    ...connectionOptions(url),
    ...noTimeout,
    application_name: 'card-checkout move-store',
    idle_in_transaction_session_timeout: 0,
    lock_timeout: LOCK_TIMEOUT_MS,
    types: {
      // Parses bigint as BigInt, because rounding could make different values compare equal.
      getTypeParser: (type, format) =>
        type === types.builtins.INT8 ? BigInt : types.getTypeParser(type, format as 'text'),
    },
  });
  await connectByName(client);
  try {
    await requireUnserved(client);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

async function connectByName(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    // Prefers the code, because Node's message is empty for a host name with several IP addresses.
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const failure = new Error(`could not connect to ${nameOf(client)} (${code})`, { cause: error });
    throw Object.assign(failure, { code });
  }
}

async function begin(client: Client, role: MoveRole, tables: Layout['tables']): Promise<void> {
  const [isolation, mode] =
    role === 'source' ? ['REPEATABLE READ', 'SHARE'] : ['READ COMMITTED', 'EXCLUSIVE'];
  await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
  // Locks before the first read, so that the snapshot includes all earlier writes.
  await client.query(`LOCK TABLE ${namesOfTables(tables)} IN ${mode} MODE`);
}

async function rowsOf(client: Client, text: string): Promise<unknown[][]> {
  return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
}

/** Throws while an instance is connected. Retries, because PostgreSQL may still list a stopped instance. */
async function requireUnserved(client: Client): Promise<void> {
  const others = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'card-checkout' AND pid <> pg_backend_pid()`;
  const deadlineMs = performance.now() + DISCONNECTING_MS;
  while ((await rowsOf(client, others)).length > 0) {
    if (performance.now() >= deadlineMs) {
      throw new MoveRefusedError(
        `${nameOf(client)} is in use: card-checkout is connected to it; stop every instance first`,
      );
    }
    await delay(ASKED_AGAIN_MS);
  }
}

async function* readPortions(
  client: Client,
  { name, columns, orderedBy }: Table,
): AsyncGenerator<readonly unknown[][]> {
  const order = orderedBy.map((key) => {
    // Sorts text by bytes, regardless of the database's collation.
    return columns.find((column) => column.name === key)?.kind === 'text' ? `${key} COLLATE "C"` : key;
  });
  const select = `SELECT ${columns.map(expressionOf).join(', ')} FROM ${name} ORDER BY ${order.join(', ')}`;
  await client.query(`DECLARE portions NO SCROLL CURSOR FOR ${select}`);
  for (;;) {
    const rows = await rowsOf(client, `FETCH ${PORTION_ROWS} FROM portions`);
    if (rows.length === 0) break;
    yield rows;
  }
  // Closes the cursor only after success, because an error ends the transaction and its cursors.
  await client.query('CLOSE portions');
}

function expressionOf({ name, kind }: Column): string {
  if (kind === 'texts') return `to_json(${name})`;
  // Reads JSON as the stored text, because the driver would otherwise parse it.
  return kind === 'json' ? `${name}::text` : name;
}

async function insert(client: Client, { name, columns }: Table, rows: readonly PortableRow[]): Promise<void> {
  const given = columns.map(typedColumn);
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

function namesOfTables(tables: Layout['tables']): string {
  return tables.map(({ name }) => name).join(', ');
}

async function commit(client: Client, tables: Layout['tables']): Promise<void> {
  for (const { name, numberedBy } of tables) {
    if (numberedBy === null) continue;
    const [row] = await rowsOf(client, `SELECT max(${numberedBy}) FROM ${name}`);
    const highest = row?.[0] as bigint | null;
    // Uses RESTART, because unlike setval it rolls back with the transaction.
    if (highest !== null)
      await client.query(`ALTER TABLE ${name} ALTER COLUMN ${numberedBy} RESTART WITH ${highest + 1n}`);
  }
  // Updates the statistics, because queries would otherwise be planned for empty tables.
  await client.query(`ANALYZE ${namesOfTables(tables)}`);
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
