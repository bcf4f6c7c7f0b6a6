import type { Payment } from '../../payment/payment.ts';
import { changingPaymentColumns, changingValues } from '../payments.ts';
import { insertedColumns, type Rows, type Script, type Scripts, type Step } from '../scripts.ts';
import type { Connection, Database } from './open-database.ts';
import {
  namesOf,
  type Statement,
  statement,
  type TypedColumn,
  typedColumn,
  unnest,
  valuesByColumn,
} from './statements.ts';

/** Key of the row, then the columns that change. */
const updatedColumns: readonly TypedColumn[] = [['id', 'text'], ...changingPaymentColumns.map(typedColumn)];
const updateChanging = statement(`
  UPDATE payments SET ${changingPaymentColumns.map(({ name }) => `${name} = changed.${name}`).join(', ')}
  FROM ${unnest('changed', updatedColumns)}
  WHERE payments.id = changed.id`);

async function updatePayments(connection: Connection, payments: readonly Payment[]): Promise<void> {
  const rows = payments.map((payment) => [payment.id, ...changingValues(payment)]);
  await connection.execute(updateChanging, valuesByColumn(updatedColumns, rows));
}

/** Locks payments in id order, so that transactions that lock the same ones cannot deadlock. */
const lock = statement('SELECT 1 FROM payments WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE');

/** Held until the end of the transaction. Names with equal hashes only wait needlessly. */
const takeLock = statement('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))');

export function createScripts(database: Database): Scripts {
  const prepared = new Map<string, Statement>();

  function statementOf(sql: string): Statement {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const made = statement(sql.replaceAll(/\?(\d+)/g, '$$$1'));
    prepared.set(sql, made);
    return made;
  }

  async function take(step: Step, connection: Connection): Promise<Rows> {
    if ('sql' in step) return connection.query(statementOf(step.sql), step.values);
    if ('lock' in step) return connection.query(takeLock, [step.lock]);
    if ('into' in step) {
      const columns = insertedColumns(step.into).map(typedColumn);
      const sql = `INSERT INTO ${step.into.name} (${namesOf(columns)})
        SELECT ${namesOf(columns)} FROM ${unnest('inserted', columns)}
        ${step.keepsExisting ? 'ON CONFLICT DO NOTHING' : ''}`;
      return connection.query(statementOf(sql), valuesByColumn(columns, step.rows));
    }
    if ('update' in step) await updatePayments(connection, step.update);
    else await connection.execute(lock, [step.lockPayments]);
    return [];
  }

  async function play<T>(script: Script<T>, connection: Connection): Promise<T> {
    for (let rows: Rows = []; ; ) {
      const { done, value } = script.next(rows);
      if (done === true) return value;
      rows = await take(value, connection);
    }
  }

  return {
    read:
      (script) =>
      async (...given) =>
        play(script(...given), database.repeating),
    write:
      (script) =>
      (...given) =>
        database.transaction((connection) => play(script(...given), connection)),
  };
}
