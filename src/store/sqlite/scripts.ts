import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ChainObservations, Payment, PaymentReference } from '../../domain/payment.ts';
import type { PaymentId } from '../../domain/payment-id.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { Column, ColumnValue, Table } from '../columns.ts';
import { NO_FINAL_BLOCK } from '../observations.ts';
import {
  applyDecision,
  changingPaymentColumns,
  changingValues,
  paymentColumns,
  paymentOfRow,
} from '../payments.ts';
import { insertedColumns, type Rows, type Script, type Scripts, type Step } from '../scripts.ts';
import { depositTable, providerSessionTable, releaseTable } from '../tables.ts';
import type { GroupCommit, GroupRead } from './group-commit.ts';

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
    read:
      (script) =>
      (...given) =>
        reads.run(() => play(script(...given))),
    write:
      (script) =>
      (...given) =>
        writes.runTransaction(() => play(script(...given))),
    writeStatement:
      (script) =>
      (...given) =>
        writes.runStatement(() => play(script(...given))),
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

/** Values as SQLite stores them: booleans as 0 and 1, lists as JSON. */
export function storedValues(values: readonly ColumnValue[]): SQLInputValue[] {
  return values.map(storedValue);
}

function storedValue(value: ColumnValue): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue);
}

export type PaymentViews = ReturnType<typeof createPaymentViews>;

/** Reads one payment; synchronous, to be called inside a read or a transaction. */
export function createPaymentViews(database: DatabaseSync) {
  const selectPayment = database.prepare(`SELECT ${paymentColumns} FROM payments WHERE id = ?`);
  selectPayment.setReturnArrays(true);
  const readObservations = prepareObservationRead(database);
  const readSessions = prepareReadOf(database, providerSessionTable, 'created_at_ms, id');

  function readPayment(id: PaymentId): Payment | null {
    const row = selectPayment.get(id);
    return row === undefined ? null : paymentOfRow(row);
  }

  return {
    readPayment,
    /** With all that a decision may depend on; null when there is no such payment. */
    view(asked: PaymentReference | PaymentId): PaymentView | null {
      const { id, accountId } = typeof asked === 'string' ? { id: asked, accountId: null } : asked;
      const payment = readPayment(id);
      if (payment === null || (accountId !== null && payment.accountId !== accountId)) return null;
      return { payment, observations: readObservations(id), sessions: readSessions(id) };
    },
  };
}

function prepareObservationRead(database: DatabaseSync): (id: PaymentId) => ChainObservations {
  const readDeposits = prepareReadOf(database, depositTable, 'block_number, log_index');
  const readReleases = prepareReadOf(database, releaseTable, 'block_number, log_index');
  const selectFinalBlock = database.prepare('SELECT max(number) AS number FROM checkpoints');

  return (id) => {
    const finalBlock = selectFinalBlock.get()?.number as number | null | undefined;
    return {
      deposits: readDeposits(id),
      releases: readReleases(id),
      finalBlock: finalBlock ?? NO_FINAL_BLOCK,
    };
  };
}

/** Reads the rows of a table that belong to a payment. */
function prepareReadOf<Entity>(
  database: DatabaseSync,
  { name, names, ofValues }: Table<Entity>,
  order: string,
): (id: PaymentId) => Entity[] {
  const select = database.prepare(`SELECT ${names} FROM ${name} WHERE payment_id = ? ORDER BY ${order}`);
  select.setReturnArrays(true);
  return (id) => (select.all(id) as unknown as unknown[][]).map(ofValues);
}
