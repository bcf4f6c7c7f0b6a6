import { StoreTooNewError, UnreleasedSchemaError } from './store-errors.ts';

/** One step of the schema. Once released it is never edited: a change is a new migration. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
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

/**
 * The number of a database's newest migration, 0 for none.
 *
 * @throws UnreleasedSchemaError when an applied migration has another name than the released one of its number
 */
export function newestNumber(
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

/**
 * What a store does where it is not hot, written once for all engines: a generator that asks for one statement after
 * the other and is given the rows. Where the engine runs it is a transaction, of which all or nothing takes effect.
 */
export type Script<T> = Generator<Step, T, Rows>;

/** A statement with numbered parameters (`?1`), in the SQL that all engines have in common. */
interface Statement {
  readonly sql: string;
  readonly values: readonly ScriptValue[];
}

/** Makes others that ask for the same name wait until this script is done, where more than one can run at a time. */
interface Lock {
  readonly lock: string;
}

type Step = Statement | Lock;

/** Flags are 0 and 1, in the columns too. */
export type ScriptValue = string | number | null;

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Runs scripts on an engine. */
export interface Scripts {
  /** A script that only reads. It takes no locks. */
  read<T>(script: () => Script<T>): Promise<T>;
  /** It may run again from its beginning when it meets another transaction. */
  write<T>(script: () => Script<T>): Promise<T>;
}

/** Asks for one statement. */
export function* run(sql: string, ...values: readonly ScriptValue[]): Script<Rows> {
  return yield { sql, values };
}

/** Asks for one statement that has one row at most. */
export function* runForOne<Row>(sql: string, ...values: readonly ScriptValue[]): Script<Row | null> {
  const [row] = yield { sql, values };
  return row === undefined ? null : ({ ...row } as Row);
}

/** Waits for others. */
export function* lock(name: string): Script<void> {
  yield { lock: name };
}
