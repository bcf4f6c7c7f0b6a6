import type { Table } from './columns.ts';
import { StoreOutdatedError, StoreTooNewError, UnreleasedSchemaError } from './store-errors.ts';

/** A schema step. Once released it is never edited: a change is a new migration. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

export interface Layout {
  readonly migrations: readonly Migration[];
  /** Tables, each after those that it references. */
  readonly tables: readonly Table[];
}

/** A migration as recorded in a database. Another program's table may lack the names. */
export interface AppliedMigration {
  readonly number: number;
  readonly name?: string;
}

/** The operator's name for a database, and the setting that selects an empty one instead. */
export interface DatabaseName {
  readonly name: string;
  readonly emptyPlace: string;
}

export interface FoundSchema {
  readonly name: string;
  /** Newest applied migration; 0 for a database without a schema. */
  readonly number: number;
  /** Newest migration of this version. */
  readonly known: number;
  readonly pending: readonly Migration[];
}

/** Throws `UnreleasedSchemaError` when the database was made before the first release. */
export function foundSchema(
  database: DatabaseName,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): FoundSchema {
  const number = newestNumber(database, applied, migrations);
  return { name: database.name, number, known: migrations.length, pending: migrations.slice(number) };
}

/** Throws `StoreTooNewError` for a database of a newer version, `StoreOutdatedError` for one of an older version. */
export function requireCurrentSchema({ name, number, known }: FoundSchema): void {
  if (number > known) throw new StoreTooNewError(name, number, known);
  if (number < known) throw new StoreOutdatedError(name, number, known);
}

/**
 * Number of a database's newest migration, 0 for none. Throws `UnreleasedSchemaError` when an applied migration has a
 * name other than the released one with its number.
 */
function newestNumber(
  database: DatabaseName,
  applied: readonly AppliedMigration[],
  released: readonly Migration[],
): number {
  const names = new Map(released.map(({ number, name }) => [number, name]));
  for (const { number, name } of applied) {
    if (name !== undefined && names.has(number) && names.get(number) !== name)
      throw new UnreleasedSchemaError(database.name, database.emptyPlace);
  }
  return Math.max(0, ...applied.map(({ number }) => number));
}

/**
 * Pending migrations of a database, in order. Throws `UnreleasedSchemaError` when the database was made before the
 * first release, and `StoreTooNewError` when the database has a migration that is not in the list.
 */
export function* pendingMigrations(
  database: DatabaseName,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): Generator<Migration> {
  const newest = newestNumber(database, applied, migrations);
  if (newest > migrations.length) throw new StoreTooNewError(database.name, newest, migrations.length);
  for (const [index, migration] of migrations.entries()) {
    if (migration.number !== index + 1) throw new Error(`migration ${migration.number} is not in its place`);
    if (migration.number > newest) yield migration;
  }
}
