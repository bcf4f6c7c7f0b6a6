import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ColumnValue, Table } from '../columns.ts';
import type { Rows, Script, Scripts, Step } from '../scripts.ts';
import type { GroupCommit, GroupRead } from './group-commit.ts';
import { storedValues } from './open-database.ts';
import type { PaymentDecider } from './payment-decider.ts';

/**
 * Runs scripts on SQLite. Each of their statements is prepared once. This process is the only writer, so a lock is
 * nothing to wait for.
 */
export function createScripts(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  decider: PaymentDecider,
): Scripts {
  const prepared = new Map<string, StatementSync>();

  function statementOf(sql: string): StatementSync {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sqliteTextOf(sql));
    prepared.set(sql, statement);
    return statement;
  }

  function take(step: Step): Rows {
    if ('lock' in step) return [];
    if ('sql' in step) return statementOf(step.sql).all(...storedValues(step.values));
    if ('into' in step) return insert(step.into, step.rows);
    const { payments, decide } = step;
    if (decide === null) return [];
    return payments.flatMap((payment) => decider.decide(payment, decide) ?? []) as unknown as Rows;
  }

  function insert(table: Table, rows: readonly (readonly ColumnValue[])[]): Rows {
    const { sql, valuesOf } = insertOf(table);
    for (const row of rows) statementOf(sql).run(...valuesOf(row));
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
    read: (script) => reads.run(() => play(script())),
    write: (script) => writes.runTransaction(() => play(script())),
    writeStatement: (script) => writes.runStatement(() => play(script())),
  };
}

/** A list is one parameter of JSON. */
function sqliteTextOf(sql: string): string {
  return sql
    .replaceAll(/= ANY\((\?\d+)\)/g, 'IN (SELECT value FROM json_each($1))')
    .replaceAll(/<> ALL\((\?\d+)\)/g, 'NOT IN (SELECT value FROM json_each($1))');
}

/** Inserts a row of a table, without the columns that SQLite does not store. */
export function insertOf({ name, columns }: Table) {
  const isStored = columns.map(({ isOfPayment }) => !isOfPayment);
  const names = columns.filter((_, index) => isStored[index]).map((column) => column.name);
  return {
    sql: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    valuesOf: (row: readonly ColumnValue[]) => storedValues(row.filter((_, index) => isStored[index])),
  };
}
