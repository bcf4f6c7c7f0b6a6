import packageDescription from '#package' with { type: 'json' };
import type { Table } from './columns.ts';
import { StoreOutdatedError, StoreTooNewError, UnreleasedSchemaError } from './store-errors.ts';

/** Schema step. A released migration is never edited: every change is a new migration. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /**
   * Oldest version that can run on the schema after this step, during a rolling update or after a rollback. A column or
   * table is removed at least one release after its replacement was added.
   */
  readonly oldestVersion: string;
  /** Text for operators that says what the step locks and for how long. */
  readonly lock: string;
}

/** Version that refuses a database with unknown numbers in `migrations`. Only later versions read `schema_steps`. */
const FIRST_VERSION = '0.1.0';

export interface Layout {
  readonly migrations: readonly Migration[];
  /** Tables in an order in which each follows the tables that it references. */
  readonly tables: readonly Table[];
}

/** Migration as recorded in a database. Another program's table `migrations` may lack the name. */
export interface AppliedMigration {
  readonly number: number;
  readonly name?: string;
  /** Absent in rows of the table `migrations`, which has no such column. */
  readonly oldest_version?: string;
}

export type FoundSchema = ReturnType<typeof foundSchema>;

/**
 * Compares applied and known migrations. Throws `UnreleasedSchemaError` for a database from before the first release.
 *
 * @param name the database as shown to operators
 * @param emptyPlace the setting that selects an empty database instead
 */
export function foundSchema(
  name: string,
  emptyPlace: string,
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
) {
  const names = new Map(migrations.map((each) => [each.number, each.name]));
  for (const each of applied) {
    if (each.name !== undefined && names.has(each.number) && names.get(each.number) !== each.name)
      throw new UnreleasedSchemaError(name, emptyPlace);
  }
  const done = new Set(applied.map((each) => each.number));
  return {
    name,
    /** Newest applied migration; 0 for a database without a schema. */
    number: Math.max(0, ...done),
    /** Number of this version's newest migration. */
    known: migrations.length,
    pending: migrations.filter((each) => !done.has(each.number)),
    // Whether a newer version has applied a step on which this version cannot run. Such a step may be recorded in both
    // tables, but only `schema_steps` has its oldest version.
    isTooNew: [...done].some(
      (step) =>
        !names.has(step) && !applied.some((each) => each.number === step && runsFrom(each.oldest_version)),
    ),
  };
}

/** Returns whether the running version is at least the given one; false if none is given. */
function runsFrom(version: string | undefined): boolean {
  return (
    version !== undefined && packageDescription.version.localeCompare(version, 'en', { numeric: true }) >= 0
  );
}

/** Tables that record the applied steps, on both engines. */
export const stepTables = `
  CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    applied_at_ms bigint NOT NULL
  );
  CREATE TABLE IF NOT EXISTS schema_steps (
    number integer PRIMARY KEY,
    name text NOT NULL,
    oldest_version text NOT NULL,
    applied_at_ms bigint NOT NULL
  );`;

/**
 * Returns SQL that applies and records a step. Version 0.1.0 reads only the table `migrations`, which therefore also
 * records the first step and the steps on which 0.1.0 cannot run.
 */
export function stepSql({ number, name, sql, oldestVersion }: Migration, appliedAtMs: number): string {
  const step = `${number}, '${name.replaceAll("'", "''")}'`;
  const isForFirstVersion = number === 1 || oldestVersion !== FIRST_VERSION;
  return `${sql};
INSERT INTO schema_steps VALUES (${step}, '${oldestVersion}', ${appliedAtMs});
${isForFirstVersion ? `INSERT INTO migrations VALUES (${step}, ${appliedAtMs});` : ''}`;
}

/** Throws `StoreTooNewError` for a database on which this version cannot run. */
export function requireNoNewerSchema({ name, number, known, isTooNew }: FoundSchema): void {
  if (isTooNew) throw new StoreTooNewError(name, number, known);
}

/** Throws the errors of `requireNoNewerSchema`, and `StoreOutdatedError` if migrations are pending. */
export function requireCurrentSchema(found: FoundSchema): void {
  requireNoNewerSchema(found);
  const { name, number, known, pending } = found;
  if (pending.length > 0) throw new StoreOutdatedError(name, number, known);
}

/** Throws unless the schema is this version's own, because a newer schema may have unknown tables or columns. */
export function requireOwnSchema(found: FoundSchema): void {
  requireCurrentSchema(found);
  if (found.number > found.known) throw new StoreTooNewError(found.name, found.number, found.known);
}
