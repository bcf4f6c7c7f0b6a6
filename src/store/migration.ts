import { StoreTooNewError } from './store-errors.ts';

/** One step of the schema. Once released it is never edited: a change is a new migration. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * What a database still needs, in order.
 *
 * @param database as the operator knows it
 * @param newest the number of its newest migration, 0 for none
 * @throws StoreTooNewError when the database has a migration that is not in the list
 */
export function* pendingMigrations(
  database: string,
  newest: number,
  migrations: readonly Migration[],
): Generator<Migration> {
  if (newest > migrations.length) throw new StoreTooNewError(database, newest, migrations.length);
  for (const [index, migration] of migrations.entries()) {
    if (migration.number !== index + 1) throw new Error(`migration ${migration.number} is not in its place`);
    if (migration.number > newest) yield migration;
  }
}
