import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Column, ColumnValue, Table } from '../columns.ts';
import { applyDecision } from '../payment-decisions.ts';
import { changingPaymentColumns, changingValues } from '../payment-rows.ts';
import { insertedColumns, type Rows, type Script, type Scripts, type Step } from '../scripts.ts';
import type { GroupCommit, GroupRead } from './group-commit.ts';
import { storedValues } from './open-database.ts';
import type { PaymentViews } from './payment-views.ts';

/**
 * Runs scripts on SQLite. Each of their statements is prepared once. This process is the only writer, so a lock is
 * nothing to wait for.
 */
export function createScripts(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  views: PaymentViews,
  nowMs: () => number,
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
    if ('sql' in step) return statementOf(step.sql).all(...storedValues(step.values));
    if ('view' in step) return step.view.flatMap((asked) => views.view(asked) ?? []) as unknown as Rows;
    if ('decide' in step) return play(applyDecision(step, nowMs())) as unknown as Rows;
    if ('into' in step) insert(step.into, step.rows, step.keepsExisting ? 'ON CONFLICT DO NOTHING' : '');
    if ('update' in step) {
      for (const payment of step.update)
        statementOf(updateSql).run(...storedValues(changingValues(payment)), payment.id);
    }
    return [];
  }

  function insert(table: Table, rows: readonly (readonly ColumnValue[])[], rest: string): void {
    const { sql, valuesOf } = insertOf(table.name, insertedColumns(table));
    for (const row of rows) statementOf(`${sql} ${rest}`).run(...valuesOf(row));
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

const updateSql = `UPDATE payments SET ${changingPaymentColumns.map(({ name }) => `${name} = ?`).join(', ')} WHERE id = ?`;

/** Inserts a row of a table, without the columns that SQLite does not store. */
export function insertOf(name: string, columns: readonly Column[]) {
  const isStored = columns.map(({ isOfPayment }) => !isOfPayment);
  const names = columns.filter((_, index) => isStored[index]).map((column) => column.name);
  return {
    sql: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    valuesOf: (row: readonly ColumnValue[]) => storedValues(row.filter((_, index) => isStored[index])),
  };
}
