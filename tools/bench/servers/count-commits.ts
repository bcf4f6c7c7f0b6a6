import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { Client } from 'pg';
import type { Statement, Value } from './recorded-creates.ts';

/**
 * Counts the write transactions of this process, for the bench's rows per commit. It wraps the one statement that
 * begins them, so that it costs something once a commit and nothing once a row; every server is counted alike.
 *
 * @returns how many have begun
 */
export function countCommits(): () => number {
  let commits = 0;
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...parameters): StatementSync {
    const statement = prepare.apply(this, parameters);
    if (!parameters[0].startsWith('BEGIN IMMEDIATE')) return statement;
    const run = statement.run.bind(statement);
    statement.run = () => {
      commits++;
      return run();
    };
    return statement;
  };
  return () => commits;
}

/**
 * Records every statement that this process sends to PostgreSQL.
 *
 * @returns statements since the last call
 */
export function recordStatements(): () => Statement[] {
  let statements: Statement[] = [];
  const { query } = Client.prototype;
  Client.prototype.query = function (this: Client, ...parameters: unknown[]) {
    const [given, values = []] = parameters as [string | { text: string; values?: Value[] }, Value[]?];
    if (typeof given === 'string') statements.push({ sql: given, values });
    else statements.push({ sql: given.text, values: given.values ?? values });
    return (query as (...given: unknown[]) => unknown).apply(this, parameters);
  } as typeof query;
  return () => {
    const taken = statements;
    statements = [];
    return taken;
  };
}
