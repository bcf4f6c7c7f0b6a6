import { readFileSync } from 'node:fs';
import { StoreOutdatedError, StoreTooNewError, UnreleasedSchemaError } from './store-errors.ts';

/** One step of the schema. Once released it is never edited: a change is a new migration. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** The schema of an engine, step by step; `integer` is its type of 64 bits. */
export function migrationsOf(schema: URL, integer: 'bigint' | 'integer'): readonly Migration[] {
  return [
    { number: 1, name: 'initial schema', sql: readFileSync(schema, 'utf8') },
    {
      number: 2,
      name: 'number of the last deleted event',
      sql: `ALTER TABLE event_numbers ADD COLUMN deleted_through ${integer} NOT NULL DEFAULT 0;
      UPDATE event_numbers SET deleted_through = coalesce(
        (SELECT min(number) - 1 FROM events WHERE events.account_id = event_numbers.account_id), newest)`,
    },
    { number: 3, name: 'sums of dust', sql: sumsOfDust(integer) },
  ];
}

/**
 * Final rows of dust of a payment that has many are folded: each is counted in the payment's one row of the table of
 * sums, which stands at the place of the last of them, with a negative log index.
 */
function sumsOfDust(integer: 'bigint' | 'integer'): string {
  const [text, amount] = integer === 'bigint' ? ['text COLLATE "C"', 'numeric(78)'] : ['text', 'text'];
  const amounts = { deposit: ['units'], release: ['to_merchant_units', 'fee_units'] };
  return Object.entries(amounts)
    .map(
      ([kind, columns]) => `
      ALTER TABLE ${kind}s ADD COLUMN folded integer NOT NULL DEFAULT 0;
      DROP INDEX ${kind}s_by_payment;
      CREATE INDEX ${kind}s_by_payment ON ${kind}s (account_id, payment_id) WHERE folded = 0;
      CREATE INDEX ${kind}s_folded ON ${kind}s (account_id, payment_id, block_number, log_index) WHERE folded = 1;
      CREATE TABLE ${kind}_sums (
        account_id ${text} NOT NULL,
        payment_id ${text} NOT NULL,
        transaction_hash ${text} NOT NULL,
        log_index integer NOT NULL,
        block_number ${integer} NOT NULL,
        ${columns.map((column) => `${column} ${amount} NOT NULL,`).join(' ')}
        PRIMARY KEY (account_id, payment_id)
      );
      CREATE INDEX ${kind}_sums_by_block ON ${kind}_sums (block_number);`,
    )
    .join('');
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
