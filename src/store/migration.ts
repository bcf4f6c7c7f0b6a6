import { type Engine, schemaOf } from './schema.ts';
import { StoreOutdatedError, StoreTooNewError, UnreleasedSchemaError } from './store-errors.ts';

/** One step of the schema. Once released it is never edited: a change is a new migration. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The schema of an engine, step by step. The name of the first tells it from those of earlier commits. */
export function migrationsOf(engine: Engine): readonly Migration[] {
  return [{ number: 1, name: 'schema of 0.1.0', sql: schemaOf(engine) }];
}

/** A migration as a database records it. The table of another program may have no names. */
export interface AppliedMigration {
  readonly number: number;
  readonly name?: string;
}

/** A database as the operator knows it, and what to set to use an empty one in its place. */
export interface DatabaseName {
  readonly name: string;
  readonly emptyPlace: string;
}

/** The schema of a database as it is. */
export interface FoundSchema {
  readonly name: string;
  /** The newest migration; 0 for a database without a schema. */
  readonly number: number;
  /** The number of this version's newest migration. */
  readonly known: number;
  /** What the database still needs, in order. */
  readonly pending: readonly Migration[];
}

/** @throws UnreleasedSchemaError when the database was made before the first release */
export function foundSchema(
  database: DatabaseName,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): FoundSchema {
  const number = newestNumber(database, applied, migrations);
  return { name: database.name, number, known: migrations.length, pending: migrations.slice(number) };
}

/**
 * @throws StoreTooNewError when a newer version has written the database
 * @throws StoreOutdatedError when an older version has
 */
export function requireCurrentSchema({ name, number, known }: FoundSchema): void {
  if (number > known) throw new StoreTooNewError(name, number, known);
  if (number < known) throw new StoreOutdatedError(name, number, known);
}

/**
 * The number of a database's newest migration, 0 for none.
 *
 * @throws UnreleasedSchemaError when an applied migration has another name than the released one of its number
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
 * What a database still needs, in order.
 *
 * @throws UnreleasedSchemaError when the database was made before the first release
 * @throws StoreTooNewError when the database has a migration that is not in the list
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
