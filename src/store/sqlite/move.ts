import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Table } from '../columns.ts';
import { requireOwnSchema } from '../migration.ts';
import { type MoveRole, openSide, PORTION_ROWS, type SideOptions } from '../move-tables.ts';
import { MoveRefusedError } from '../store-errors.ts';
import { findSchema, migrate, readSchema } from './migrations.ts';
import { openLocked } from './open-database.ts';
import { insertSqlOf, storedValues } from './scripts.ts';

/** Opens and locks a side of a move. Creates a missing target. Throws the errors of `openSide` and `openLocked`. */
export async function openSqliteSide(file: string, role: MoveRole, options: SideOptions) {
  const { migrations } = options;
  // Checks first, because opening a missing source would create the file.
  if (role === 'source' && !existsSync(file)) throw new MoveRefusedError(`there is no database ${file}`);
  const found = findSchema(file, migrations);
  if (found.number > 0) requireOwnSchema(found);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { database, close } = openLocked(file);
  return openSide(
    {
      name: file,
      readSchema: async () => readSchema(database, file, migrations),
      createTables: async () => migrate(database, file, migrations, Date.now),
      begin: async () =>
        database.exec(role === 'source' ? 'PRAGMA query_only = ON; BEGIN' : 'BEGIN IMMEDIATE'),
      countRows: async (table) =>
        Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count']),
      read: (table) => readPortions(database, table),
      async insert(table, rows) {
        const statement = database.prepare(insertSqlOf(table.name, table.columns));
        for (const row of rows) statement.run(...storedValues(row));
      },
      // Sets no counters, because SQLite continues after the highest number.
      commit: async () => database.exec('COMMIT'),
      close,
    },
    role,
    options,
  );
}

async function* readPortions(
  database: DatabaseSync,
  { name, columns, orderedBy }: Table,
): AsyncGenerator<readonly unknown[][]> {
  const names = columns.map((column) => column.name).join(', ');
  const select = database.prepare(`SELECT ${names} FROM ${name} ORDER BY ${orderedBy.join(', ')}`);
  select.setReturnArrays(true);
  let portion: unknown[][] = [];
  for (const values of select.iterate() as Iterable<unknown> as Iterable<unknown[]>) {
    portion.push(values);
    if (portion.length < PORTION_ROWS) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}
