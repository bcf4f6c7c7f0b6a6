import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { migrations, tables } from '../../src/app/store/store.ts';
import { projectFiles } from './project-files.ts';

/** The columns of each table of a schema, in order. */
function columnsOf(text: string): ReadonlyMap<string, readonly string[]> {
  const created = text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \((.*?)\n\)[^)\n]*(?:\([^)]*\))?;/gs);
  return new Map(
    [...created].map(([, name = '', body = '']) => [
      name,
      [...body.matchAll(/^ {2}([a-z_]+) [a-z]/gm)].map(([, column = '']) => column),
    ]),
  );
}

const released = [migrations.SQLite, migrations.PostgreSQL].map(([first]) => first?.sql ?? '');
const [sqlite = columnsOf(''), postgres = columnsOf('')] = released.map(columnsOf);

it('has the same tables and columns on both engines, but for those with a reason', () => {
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
    expect(sqlite.get(name)).toEqual(expect.arrayContaining(columns));
    expect(postgres.get(name)).toEqual(expect.arrayContaining(columns));
  },
);

it('is not edited once it is released: a change is a migration', () => {
  // Whatever the order of its statements, which says which room they stand in.
  const statementsOf = (text: string) =>
    text
      .trim()
      .split(/\n(?=CREATE )/)
      .map((statement) => statement.trim());
  const digests = released.map((text) => hash('sha256', statementsOf(text).sort().join('\n')).slice(0, 16));
  expect(digests).toEqual(['083045b25070b7cd', 'b6c4f515a05e4bea']);
});

it('lets the steps of a feature write rows of its own tables only, and events', () => {
  const files = projectFiles(/^src\/features\/[\w-]+\/(stored-[\w-]+\.ts|schema\.sql)$/);
  const schemas = new Map(
    files.map(({ path, text }) => [path, [...text.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name)]),
  );
  const stored = files.filter(({ path }) => path.endsWith('.ts'));
  expect(stored.length).toBeGreaterThan(3);
  for (const { path, text } of stored) {
    const own = schemas.get(`${dirname(path)}/schema.sql`);
    const written = [...text.matchAll(/(?:UPDATE(?! SET)|INSERT INTO|DELETE FROM)\s+(\w+)/g)];
    expect(own, path).toEqual(expect.arrayContaining(written.map(([, table]) => table)));
    const described = [...text.matchAll(/\b(\w+Table)\.(?:insert|update)\w*\(/g)].map(
      ([, name = '']) => name,
    );
    const foreign = described.filter((name) => !text.includes(`const ${name} = `));
    expect(foreign.filter((name) => name !== 'unnumberedEventTable')).toEqual([]);
  }
});
