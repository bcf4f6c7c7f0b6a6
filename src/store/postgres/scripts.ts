import type { Table } from '../columns.ts';
import type { Rows, Script, Scripts, Step } from '../scripts.ts';
import type { Connection, Database } from './open-database.ts';
import { lockPayments, type PaymentDecider } from './payment-decider.ts';
import { findReferences } from './payment-rows.ts';
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

/** Runs scripts on PostgreSQL. */
export function createScripts(database: Database, decider: PaymentDecider): Scripts {
  const prepared = new Map<string, Statement>();

  function statementOf(sql: string): Statement {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const made = statement(sql.replaceAll(/\?(\d+)/g, '$$$1'));
    prepared.set(sql, made);
    return made;
  }

  async function take(step: Step, connection: Connection): Promise<Rows> {
    if ('lock' in step) return connection.query(takeLock, [step.lock]);
    if ('sql' in step) return connection.query(statementOf(step.sql), step.values);
    if ('into' in step) {
      const columns = typedColumns(step.into);
      const sql = `INSERT INTO ${step.into.name} (${namesOf(columns)})
        SELECT ${namesOf(columns)} FROM ${unnest('inserted', columns)}`;
      return connection.query(statementOf(sql), valuesByColumn(columns, step.rows));
    }
    const { payments, decide } = step;
    const ids = payments.filter((payment) => typeof payment === 'string');
    const references =
      ids.length === 0
        ? payments.filter((payment) => typeof payment !== 'string')
        : await findReferences(
            connection,
            payments.map((payment) => (typeof payment === 'string' ? payment : payment.id)),
          );
    if (decide === null) {
      await lockPayments(connection, references);
      return [];
    }
    return (await decider.decideAll(connection, references, decide)) as unknown as Rows;
  }

  async function play<T>(script: Script<T>, connection: Connection): Promise<T> {
    for (let rows: Rows = []; ; ) {
      const { done, value } = script.next(rows);
      if (done === true) return value;
      rows = await take(value, connection);
    }
  }

  return {
    read: (script) => play(script(), database),
    write: (script) => database.transaction((connection) => play(script(), connection)),
    writeStatement: (script) => play(script(), database),
  };
}

function typedColumns({ columns }: Table): TypedColumn[] {
  return columns.map(({ name, kind }) => [name, postgresTypes[kind]]);
}
