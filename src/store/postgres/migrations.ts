import type { Client } from 'pg';
import {
  type AppliedMigration,
  type FoundSchema,
  foundSchema,
  type Migration,
  requireNoNewerSchema,
  stepSql,
  stepTables,
} from '../migration.ts';
import { connectionOptions, DatabaseClient, noTimeout } from './connect.ts';

/** Key of the advisory lock: "cardchec" in ASCII. */
const MIGRATION_LOCK = '7161130657985881443';

/**
 * Migrates a database to the newest schema, each step in a separate transaction. If several instances start together,
 * one migrates while the others wait. Throws the errors of `foundSchema` and `requireNoNewerSchema`.
 */
export async function migrate(
  url: string,
  migrations: readonly Migration[],
  nowMs: () => number,
): Promise<void> {
  // Disables timeouts, because changing a large table, or waiting for another instance to change it, may take long.
  const client = new DatabaseClient({ ...connectionOptions(url), ...noTimeout });
  await client.connect();
  try {
    while (await applyNext(client, migrations, nowMs())) {}
  } finally {
    await client.end();
  }
}

/** Reads a schema without changing it. Throws `UnreleasedSchemaError` for a database from before the first release. */
export async function findSchema(url: string, migrations: readonly Migration[]): Promise<FoundSchema> {
  const client = new DatabaseClient(connectionOptions(url));
  await client.connect();
  try {
    return await readSchema(client, migrations);
  } finally {
    await client.end();
  }
}

/** Reads a schema. Throws `UnreleasedSchemaError` for a database from before the first release. */
export async function readSchema(client: Client, migrations: readonly Migration[]): Promise<FoundSchema> {
  const applied: AppliedMigration[] = [];
  for (const table of ['migrations', 'schema_steps']) {
    const { rows } = await client.query<{ found: string | null }>('SELECT to_regclass($1) AS found', [table]);
    if (rows[0]?.found != null)
      applied.push(...(await client.query<AppliedMigration>(`SELECT * FROM ${table}`)).rows);
  }
  return foundSchema(nameOf(client), 'DATABASE_URL to an empty database', applied, migrations);
}

/** Applies the oldest pending migration, if any. Its lock ends with the transaction, even behind a pooler. */
async function applyNext(
  client: Client,
  migrations: readonly Migration[],
  appliedAtMs: number,
): Promise<boolean> {
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  // Fails a step that cannot lock a table soon, because all later reads of that table would wait behind it.
  await client.query(`SET LOCAL lock_timeout = '5s'; ${stepTables}`);
  const found = await readSchema(client, migrations);
  requireNoNewerSchema(found);
  const [migration] = found.pending;
  if (migration !== undefined) {
    try {
      await client.query(stepSql(migration, appliedAtMs));
    } catch (error) {
      // Needs no ROLLBACK, because the caller closes the connection.
      const { number, name } = migration;
      throw new Error(`migration ${number} (${name}) failed: ${(error as Error).message}`, { cause: error });
    }
  }
  await client.query('COMMIT');
  return migration !== undefined;
}

/** Returns the database's name for operators, without the password. */
export function nameOf(client: Client): string {
  return `the database ${client.database} on ${client.host}`;
}
