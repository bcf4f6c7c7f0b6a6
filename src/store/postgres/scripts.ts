import type { Rows, Script, Scripts } from '../script.ts';
import type { Connection, Database } from './open-database.ts';
import { type Statement, statement } from './statement.ts';

/** Until the transaction ends. Two names may share a number, and then wait for each other without need. */
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

  async function play<T>(script: Script<T>, connection: Connection): Promise<T> {
    for (let rows: Rows = []; ; ) {
      const { done, value } = script.next(rows);
      if (done === true) return value;
      if ('lock' in value) await connection.query(takeLock, [value.lock]);
      else rows = await connection.query(statementOf(value.sql), value.values);
    }
  }

  return {
    read: (script) => play(script(), database),
    write: (script) => database.transaction((connection) => play(script(), connection)),
  };
}
