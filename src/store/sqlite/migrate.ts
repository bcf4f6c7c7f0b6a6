import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type Migration, pendingMigrations } from '../migration.ts';

/** A writer holds the database for a moment only. */
const OPENING_TIMEOUT_MS = 2_000;

/**
 * Brings a database to the newest schema, each migration in a transaction of its own.
 *
 * @throws StoreTooNewError when the database has a migration that is not in the list
 */
export function migrate(
  database: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
  nowMs: () => number,
): void {
  database.exec(`CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at_ms INTEGER NOT NULL
  ) STRICT`);
  const newest = database.prepare('SELECT max(number) AS number FROM migrations').get();
  const found = (newest?.number as number | null | undefined) ?? 0;
  for (const migration of pendingMigrations(file, found, migrations)) apply(database, migration, nowMs());
}

/** Whether the file is a database that has been migrated. Makes no file. */
export function hasSchema(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: OPENING_TIMEOUT_MS });
  try {
    return readSchemaNumber(database) > 0;
  } finally {
    database.close();
  }
}

/** The newest migration; 0 for a database without a schema. */
export function readSchemaNumber(database: DatabaseSync): number {
  const found = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'")
    .get();
  if (found === undefined) return 0;
  const newest = database.prepare('SELECT max(number) AS number FROM migrations').get();
  return (newest?.number as number | null | undefined) ?? 0;
}

function apply(database: DatabaseSync, migration: Migration, appliedAtMs: number): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(migration.sql);
    database
      .prepare('INSERT INTO migrations (number, name, applied_at_ms) VALUES (?, ?, ?)')
      .run(migration.number, migration.name, appliedAtMs);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw new Error(`migration ${migration.number} (${migration.name}) failed`, { cause: error });
  }
}
