import { onFirstUse } from '../../platform/on-first-use.ts';
import { insertedColumns, type Rows, type Script, type Scripts, type Step } from '../scripts.ts';
import type { Connection, Database } from './open-database.ts';
import { namesOf, statement, typedColumn, unnest, valuesByColumn } from './statements.ts';

/** Statement that locks payments in id order, so that concurrent transactions cannot deadlock. */
const lock = statement('SELECT 1 FROM payments WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE');

/** Takes a named lock until the end of the transaction. A hash collision between names causes only a needless wait. */
const takeLock = statement('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))');

export function createScripts(database: Database): Scripts {
  const statementOf = onFirstUse((sql: string) => statement(sql.replaceAll(/\?(\d+)/g, '$$$1')));

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
    return connection.query(lock, [step.lockPayments]);
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
