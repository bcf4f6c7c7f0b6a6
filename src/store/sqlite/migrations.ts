import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import {
  type AppliedMigration,
  type FoundSchema,
  foundSchema,
  type Migration,
  requireNoNewerSchema,
  stepSql,
  stepTables,
} from '../migration.ts';

/** Maximum wait for another connection's lock. Writers hold locks only briefly. */
const OPENING_TIMEOUT_MS = 2_000;
const EMPTY_PLACE = 'DATA_DIR to an empty folder';

/** Migrates to the newest schema, one transaction per step. Throws like `foundSchema` and `requireNoNewerSchema`. */
export function migrate(
  database: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
  nowMs: () => number,
): void {
  const found = readSchema(database, file, migrations);
  requireNoNewerSchema(found);
  if (found.pending.length === 0) return;
  database.exec(stepTables);
  for (const migration of found.pending) {
    try {
      database.exec(`BEGIN IMMEDIATE; ${stepSql(migration, nowMs())} COMMIT`);
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      const { number, name } = migration;
      throw new Error(`migration ${number} (${name}) failed: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** Reads a schema without creating files. Throws `UnreleasedSchemaError` for one from before the first release. */
export function findSchema(file: string, migrations: readonly Migration[]): FoundSchema {
  if (!existsSync(file)) return foundSchema(file, EMPTY_PLACE, [], migrations);
  const url = pathToFileURL(file);
  // Opens the file as immutable, so that SQLite creates no `-wal` or `-shm`. Without a log, the file is complete.
  const isAtRest = !existsSync(`${file}-wal`) && !existsSync(`${file}-journal`);
  if (isAtRest) url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, { readOnly: true, timeout: OPENING_TIMEOUT_MS });
  try {
    return readSchema(database, file, migrations);
  } finally {
    database.close();
  }
}

/** Reads an open database's schema. Throws `UnreleasedSchemaError` for one from before the first release. */
export function readSchema(
  database: DatabaseSync,
  file: string,
  migrations: readonly Migration[],
): FoundSchema {
  const found = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('migrations', 'schema_steps')")
    .all();
  const applied = found.flatMap(({ name }) => database.prepare(`SELECT * FROM ${name}`).all());
  return foundSchema(file, EMPTY_PLACE, applied as unknown as AppliedMigration[], migrations);
}
