import { expect, it } from 'vitest';
import type { Migration } from '../../src/store/migration.ts';
import { migrations as postgresMigrations } from '../../src/store/postgres/migrations.ts';
import { migrations as sqliteMigrations } from '../../src/store/sqlite/migrations.ts';
import { tables } from '../../src/store/tables.ts';

/** The columns of each table of an engine's schema, in order. */
function schemaOf(migrations: readonly Migration[]): ReadonlyMap<string, readonly string[]> {
  const text = migrations.map(({ sql }) => sql.replaceAll(/--.*$/gm, '')).join(';');
  const created = text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \((.*?)\n?\)[^)\n]*(?:\([^)]*\))?;/gs);
  const schema = new Map(
    [...created].map(([, name = '', body = '']) => [
      name,
      [...body.matchAll(/(?:^|[(,])\s*([a-z_]+) [a-z]/gm)].map(([, column = '']) => column),
    ]),
  );
  for (const [, name = '', column = ''] of text.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g))
    schema.get(name)?.push(column);
  return schema;
}

const sqlite = schemaOf(sqliteMigrations);
const postgres = schemaOf(postgresMigrations);

it('has the same tables and columns in both schemas, but for those with a reason', () => {
  const differences = [...new Set([...sqlite.keys(), ...postgres.keys()])].flatMap((table) => {
    const [ofSqlite, ofPostgres] = [sqlite.get(table) ?? [], postgres.get(table) ?? []];
    const columns = [
      ...ofSqlite.filter((column) => !ofPostgres.includes(column)).map((column) => `sqlite: ${column}`),
      ...ofPostgres.filter((column) => !ofSqlite.includes(column)).map((column) => `postgres: ${column}`),
    ];
    const [whole] = [ofSqlite, ofPostgres]
      .map((each, index) =>
        each.length === 0 ? [['postgres', 'sqlite'][index], 'only'].join(' ') : undefined,
      )
      .filter((each) => each !== undefined);
    return columns.length === 0 ? [] : [`${table}: ${whole ?? columns.join(', ')}`];
  });
  expect(differences.sort()).toEqual([
    // On PostgreSQL the primary key of payments is in the order of an account's list.
    'account_payments: sqlite only',
    // Rows are in the order of creation, so that the oldest are found for deletion without another index.
    'idempotency_records: sqlite: row',
    // What several processes share.
    'leases: postgres only',
    'rate_windows: postgres only',
    'release_claims: postgres only',
  ]);
});

it.each(tables.map((table) => [table.name, table] as const))(
  'has each described column of %s',
  (name, table) => {
    const columns = table.columns.map((column) => column.name);
    expect(sqlite.get(name)).toEqual(
      expect.arrayContaining(columns.filter((column) => column !== 'account_id')),
    );
    expect(postgres.get(name)).toEqual(expect.arrayContaining(columns));
  },
);
