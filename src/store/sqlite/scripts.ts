import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { onFirstUse } from '../../platform/on-first-use.ts';
import type { Column, ColumnValue } from '../columns.ts';
import { insertedColumns, type Rows, type Script, type Scripts, type Step } from '../scripts.ts';
import type { GroupCommit, Reads } from './group-commit.ts';

/** Runs scripts on SQLite. Prepares each statement once. Ignores locks, because writes are already serialized. */
export function createScripts(database: DatabaseSync, writes: GroupCommit, reads: Reads): Scripts {
  const statementOf = onFirstUse((sql: string) => database.prepare(sqliteTextOf(sql)));

  function take(step: Step): Rows {
    if ('sql' in step) return statementOf(step.sql).all(...storedValues(step.values));
    if ('into' in step) {
      const { into, rows, keepsExisting } = step;
      const insert = insertSqlOf(into.name, insertedColumns(into));
      const statement = statementOf(`${insert} ${keepsExisting ? 'ON CONFLICT DO NOTHING' : ''}`);
      for (const row of rows) statement.run(...storedValues(row));
    }
    return [];
  }

  function play<T>(script: Script<T>): T {
    for (let rows: Rows = []; ; ) {
      const { done, value } = script.next(rows);
      if (done === true) return value;
      rows = take(value);
    }
  }

  return {
    read:
      (script) =>
      (...given) =>
        reads.run(() => play(script(...given))),
    write:
      (script) =>
      (...given) =>
        writes.run(() => play(script(...given))),
  };
}

/** Translates a statement to SQLite: lists become JSON, some functions have other names, and row locks are omitted. */
function sqliteTextOf(sql: string): string {
  return sql
    .replace(/FOR UPDATE OF \w+ SKIP LOCKED/, '')
    .replaceAll('json_agg(', 'json_group_array(')
    .replaceAll('json_build_array(', 'json_array(')
    .replaceAll(/= ANY\((\?\d+)::bytea\[\]\)/g, 'IN (SELECT unhex(substr(value, 3)) FROM json_each($1))')
    .replaceAll(/= ANY\((\?\d+)\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll(/<> ALL\((\?\d+)\)/g, 'NOT IN (SELECT value FROM json_each($1))');
}

export function insertSqlOf(table: string, columns: readonly Column[]): string {
  return `INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')})`;
}

/** Converts values for SQLite: booleans to 0 and 1, and lists to JSON. */
export function storedValues(values: readonly ColumnValue[]): SQLInputValue[] {
  return values.map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0;
    return Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue);
  });
}
