import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { OnProgress } from '../platform/progress.ts';
import { copyDatabase } from '../store/sqlite/copy-database.ts';
import { migrations } from './migrations.ts';
import { requireDatabase, SQLITE_FILE } from './open-store.ts';

/** Name of the file in the data folder that each backup writes; `doctor` reads the last backup's age from it. */
export const LAST_BACKUP_FILE = 'last-backup';

/** Copies the SQLite database into a file, even while a server runs. Throws for PostgreSQL or without a database. */
export async function backUp(config: Config, file: string, onProgress: OnProgress = () => {}) {
  if (config.databaseUrl !== null) {
    throw new Error(
      'DATABASE_URL is a PostgreSQL database. Back it up with pg_dump, which works while the service runs: ' +
        `pg_dump --format=custom --file=${file} "$DATABASE_URL"`,
    );
  }
  const database = join(config.dataDir, SQLITE_FILE);
  await requireDatabase(config);
  const target = resolve(file);
  const copied = await copyDatabase(database, target, migrations.SQLite, onProgress);
  try {
    writeFileSync(join(config.dataDir, LAST_BACKUP_FILE), `${target}\n`);
  } catch {
    // Ignored, because the copy is valid even if this user cannot write to the data folder.
  }
  return { file: target, ...copied };
}
