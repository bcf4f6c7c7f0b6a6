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

/** Throws `UnreleasedSchemaError` for a database that was made before the first release. */
export function foundSchema(
  database: DatabaseName,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): FoundSchema {
  const names = new Map(migrations.map(({ number, name }) => [number, name]));
  for (const { number, name } of applied) {
    if (name !== undefined && names.has(number) && names.get(number) !== name)
      throw new UnreleasedSchemaError(database.name, database.emptyPlace);
  }
  const number = Math.max(0, ...applied.map((each) => each.number));
  return { name: database.name, number, known: migrations.length, pending: migrations.slice(number) };
}

/** Throws `StoreTooNewError` for a database of a newer version. */
export function requireNoNewerSchema({ name, number, known }: FoundSchema): void {
  if (number > known) throw new StoreTooNewError(name, number, known);
}

/** Throws `StoreTooNewError` for a database of a newer version, `StoreOutdatedError` for one of an older version. */
export function requireCurrentSchema(found: FoundSchema): void {
  requireNoNewerSchema(found);
  const { name, number, known } = found;
  if (number < known) throw new StoreOutdatedError(name, number, known);
}
