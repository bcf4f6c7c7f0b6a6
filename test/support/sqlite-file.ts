import { DatabaseSync } from 'node:sqlite';

/** Uses the file of a SQLite database as no store does. */
export function inSqliteFile<T>(file: string, use: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return use(database);
  } finally {
    database.close();
  }
}
