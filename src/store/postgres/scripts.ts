import { applyDecision } from '../payments.ts';
import { insertedColumns, type Rows, type Script, type Scripts, type Step } from '../scripts.ts';
import type { Connection, Database } from './open-database.ts';
import { lockPayments, updatePayments } from './payment-rows.ts';
import {
  namesOf,
  postgresTypes,
  type Statement,
  statement,
  type TypedColumn,
  unnest,
  valuesByColumn,
} from './statements.ts';

/** Until the transaction ends. Two names may share a number, and then wait for each other without need. */
const takeLock = statement('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))');

export function createScripts(database: Database, nowMs: () => number): Scripts {
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
      const columns = insertedColumns(step.into).map(
        ({ name, kind }): TypedColumn => [name, postgresTypes[kind]],
      );
      const sql = `INSERT INTO ${step.into.name} (${namesOf(columns)})
        SELECT ${namesOf(columns)} FROM ${unnest('inserted', columns)}
        ${step.keepsExisting ? 'ON CONFLICT DO NOTHING' : ''}`;
      return connection.query(statementOf(sql), valuesByColumn(columns, step.rows));
    }
    if ('decide' in step) return (await play(applyDecision(step, nowMs()), connection)) as unknown as Rows;
    if ('update' in step) await updatePayments(connection, step.update);
    else await lockPayments(connection, step.lockPayments);
    return [];
  }

  async function play<T>(script: Script<T>, connection: Connection): Promise<T> {
    for (let rows: Rows = []; ; ) {
      const { done, value } = script.next(rows);
      if (done === true) return value;
      rows = await take(value, connection);
    }
  }

  const runAlone: Scripts['read'] =
    (script) =>
    async (...given) =>
      play(script(...given), database);
  return {
    read: runAlone,
    write:
      (script) =>
      (...given) =>
        database.transaction((connection) => play(script(...given), connection)),
    writeStatement: runAlone,
  };
}
