import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigError } from '../config.ts';
import { backUpSqlite } from '../store/sqlite/back-up.ts';
import { SQLITE_FILE } from './open-store.ts';

/**
 * Copies the database of the data folder into a file, also while a server runs. Returns what the command prints.
 * Throws `ConfigError` for PostgreSQL, whose own tool does it better than we could.
 */
export function backUp(config: Config, file: string) {
  if (config.databaseUrl !== null) {
    throw new ConfigError([
      'DATABASE_URL names a PostgreSQL database; it is backed up with its own tool, also while the service runs: ' +
        `pg_dump --format=custom --file=${file} "$DATABASE_URL"`,
    ]);
  }
  const database = join(config.dataDir, SQLITE_FILE);
  if (!existsSync(database)) throw new Error(`there is no database in ${config.dataDir}; is DATA_DIR right?`);
  const target = resolve(file);
  const { bytes, secretFingerprints, book } = backUpSqlite(database, target);
  return {
    file: target,
    bytes,
    secret_fingerprints: secretFingerprints,
    book_entries: book?.number ?? null,
    book_hash: book?.hash ?? null,
  };
}
