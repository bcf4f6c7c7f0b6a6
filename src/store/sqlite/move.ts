import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Column, ColumnKind, Table } from '../columns.ts';
import {
  type MoveSource,
  type MoveTarget,
  PORTION_ROWS,
  type PortableRow,
  type PortableValue,
  requireCurrentSchema,
  requireEmpty,
} from '../move-tables.ts';
import { MoveRefusedError } from '../store-errors.ts';
import { tables } from '../tables.ts';
import { migrate, migrations, readSchemaNumber } from './migrations.ts';
import { openLocked } from './open-store.ts';
import { insertOf } from './scripts.ts';

/**
 * Opens the database to move from. It stays locked until it is closed, so that no server starts on it.
 *
 * @throws StoreInUseError while another process serves it
 * @throws MoveRefusedError when there is none, or its schema is not this version's
 */
export async function openSqliteSource(file: string): Promise<MoveSource> {
  // Opening would make one.
  if (!existsSync(file)) throw new MoveRefusedError(`there is no database ${file}`);
  const { database, close } = openLocked(file);
  try {
    requireCurrentSchema(file, readSchemaNumber(database, file), migrations.length);
    database.exec('PRAGMA query_only = ON; BEGIN');
    return { readPortions: (table) => readPortions(database, table), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens the database to move to, and makes it if it is missing.
 *
 * @throws StoreInUseError while another process serves it
 * @throws MoveRefusedError when it is not empty, or its schema is not this version's
 */
export async function openSqliteTarget(file: string): Promise<MoveTarget> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { database, close } = openLocked(file);
  try {
    if (readSchemaNumber(database, file) === 0) migrate(database, file, migrations, Date.now);
    requireCurrentSchema(file, readSchemaNumber(database, file), migrations.length);
    database.exec('BEGIN IMMEDIATE');
    const filled = tables.filter(({ name }) => hasRows(database, name));
    requireEmpty(
      file,
      filled.map(({ name }) => name),
    );
    return {
      readPortions: (table) => readPortions(database, table),
      async insert(table, rows) {
        const { sql, valuesOf } = insertOf(table.name, table.columns);
        const statement = database.prepare(sql);
        for (const row of rows) statement.run(...valuesOf(row));
      },
      async commit() {
        // Numbers go on after the highest one by themselves.
        database.exec('COMMIT');
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function hasRows(database: DatabaseSync, table: string): boolean {
  return database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
}

async function* readPortions(
  database: DatabaseSync,
  { name, columns, orderedBy }: Table,
): AsyncGenerator<readonly PortableRow[]> {
  const expressions = columns.map((column) => expressionOf(name, column));
  const select = database.prepare(
    `SELECT ${expressions.join(', ')} FROM ${name} ORDER BY ${orderedBy.join(', ')}`,
  );
  select.setReturnArrays(true);
  let portion: PortableRow[] = [];
  for (const values of select.iterate() as Iterable<unknown> as Iterable<StoredValue[]>) {
    portion.push(values.map((value, index) => portableOf(value, (columns[index] as Column).kind)));
    if (portion.length < PORTION_ROWS) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}

function expressionOf(table: string, { name, isOfPayment }: Column): string {
  return isOfPayment ? `(SELECT ${name} FROM payments WHERE payments.id = ${table}.payment_id)` : name;
}

type StoredValue = string | number | null;

function portableOf(value: StoredValue, kind: ColumnKind): PortableValue {
  if (value === null) return null;
  if (kind === 'flag') return flagOf(value);
  // Without the spaces that an operator may have written by hand.
  return kind === 'texts' ? JSON.stringify(JSON.parse(String(value))) : value;
}

function flagOf(value: StoredValue): boolean {
  if (value !== 0 && value !== 1) throw new Error(`${value} is neither 0 nor 1`);
  return value === 1;
}
