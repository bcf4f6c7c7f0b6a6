import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Rows, Script, Scripts } from '../script.ts';
import type { GroupCommit } from './group-commit.ts';
import type { GroupRead } from './group-read.ts';

/** Each of the scripts' statements is prepared once. This process is the only writer, so a lock is nothing to wait for. */
export function createScripts(database: DatabaseSync, writes: GroupCommit, reads: GroupRead): Scripts {
  const prepared = new Map<string, StatementSync>();

  function statementOf(sql: string): StatementSync {
    const known = prepared.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  }

  function play<T>(script: Script<T>): T {
    for (let rows: Rows = []; ; ) {
      const { done, value } = script.next(rows);
      if (done === true) return value;
      rows = 'lock' in value ? [] : statementOf(value.sql).all(...value.values);
    }
  }

  return {
    read: (script) => reads.run(() => play(script())),
    write: (script) => writes.runTransaction(() => play(script())),
  };
}
