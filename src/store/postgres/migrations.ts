import type { Client } from 'pg';
import {
  type AppliedMigration,
  type DatabaseName,
  type FoundSchema,
  foundSchema,
  type Migration,
  migrationsOf,
  pendingMigrations,
} from '../migration.ts';
import { connectionOptions, DatabaseClient, noTimeout } from './connect.ts';

export const migrations = migrationsOf('PostgreSQL');

/** Names our advisory lock among others in the same database: "cardchec" in ASCII. */
const MIGRATION_LOCK = '7161130657985881443';

/**
 * Brings a database to the newest schema, each migration in a transaction of its own. Of several instances that
 * start at once, one migrates and the others wait for it.
 *
 * @throws UnreleasedSchemaError when the database was made before the first release
 * @throws StoreTooNewError when the database has a migration that is not in the list
 */
export async function migrate(
  url: string,
  migrations: readonly Migration[],
  nowMs: () => number,
): Promise<void> {
  // A change of a large table may take its time, and so may waiting for another instance that makes it.
  const client = new DatabaseClient({ ...connectionOptions(url), ...noTimeout });
  // Between statements a break is noticed by the next one.
  client.on('error', () => {});
  await client.connect();
  try {
    while (await applyNext(client, migrations, nowMs())) {}
  } finally {
    await client.end();
  }
}

/**
 * The schema of a database, which is not changed.
 *
 * @throws UnreleasedSchemaError when the database was made before the first release
 */
export async function findSchema(
  url: string,
  connect = (client: Client): Promise<unknown> => client.connect(),
): Promise<FoundSchema> {
  const client = new DatabaseClient(connectionOptions(url));
  client.on('error', () => {});
  await connect(client);
  try {
    return await readSchema(client);
  } finally {
    await client.end();
  }
}

/** Connects a client; the error of a failure names the database. */
export async function connectByName(client: Client): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    // Node's own message is empty where a name has several addresses.
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const failure = new Error(`could not connect to ${nameOf(client)} (${code})`, { cause: error });
    throw Object.assign(failure, { code });
  }
}

/**
 * The schema of the database of a connection.
 *
 * @throws UnreleasedSchemaError when the database was made before the first release
 */
export async function readSchema(client: Client): Promise<FoundSchema> {
  const { rows } = await client.query<{ found: string | null }>("SELECT to_regclass('migrations') AS found");
  return foundSchema(describe(client), rows[0]?.found == null ? [] : await readApplied(client), migrations);
}

async function readApplied(client: Client): Promise<readonly AppliedMigration[]> {
  return (await client.query<AppliedMigration>('SELECT number, name FROM migrations ORDER BY number')).rows;
}

function describe(client: Client): DatabaseName {
  return { name: nameOf(client), emptyPlace: 'DATABASE_URL to an empty database' };
}

/**
 * Applies the oldest pending migration, and tells whether there was one. The lock is the transaction's: behind a pooler,
 * one of the session would outlive the client.
 */
async function applyNext(
  client: Client,
  migrations: readonly Migration[],
  appliedAtMs: number,
): Promise<boolean> {
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  await client.query(`CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at_ms bigint NOT NULL
  )`);
  const [migration] = pendingMigrations(describe(client), await readApplied(client), migrations);
  if (migration !== undefined) {
    try {
      await client.query(migration.sql);
    } catch (error) {
      // Closing the connection undoes what is not committed.
      throw new Error(`migration ${migration.number} (${migration.name}) failed`, { cause: error });
    }
    const values = [migration.number, migration.name, appliedAtMs];
    await client.query('INSERT INTO migrations (number, name, applied_at_ms) VALUES ($1, $2, $3)', values);
  }
  await client.query('COMMIT');
  return migration !== undefined;
}

/** What an operator knows the database by; never its password. */
export function nameOf(client: Client): string {
  return `the database ${client.database} on ${client.host}`;
}
