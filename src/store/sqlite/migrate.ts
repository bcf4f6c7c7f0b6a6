import type { DatabaseSync } from 'node:sqlite';
import { type Migration, pendingMigrations } from '../migration.ts';

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
