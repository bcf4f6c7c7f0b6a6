import { DatabaseSync, type StatementSync } from 'node:sqlite';

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
