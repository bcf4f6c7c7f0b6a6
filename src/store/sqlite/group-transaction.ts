import type { DatabaseSync } from 'node:sqlite';
import { StoreWriteError } from '../store-errors.ts';

/** One write of a group, and what came of it. */
export interface GroupItem {
  readonly write: () => unknown;
  /** Several statements, of which all or none take effect. */
  readonly inSavepoint: boolean;
  failed: boolean;
  /** The write's value, or its error if it failed. */
  outcome: unknown;
}

/** A transaction of several writes, in which a write that throws is undone alone. Synchronous. */
export interface GroupTransaction {
  /** @throws what SQLite says, a lock held by another program among it */
  begin(): void;
  /** Runs the writes and commits them. Null once they are durable, else why all of them are lost. */
  commit(group: readonly GroupItem[]): StoreWriteError | null;
  /** After a loss. @throws when SQLite cannot even roll back */
  rollback(): void;
}

export function createGroupTransaction(database: DatabaseSync): GroupTransaction {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const savepoint = database.prepare('SAVEPOINT item');
  const release = database.prepare('RELEASE item');
  const rollbackToSavepoint = database.prepare('ROLLBACK TO item');

  function runInSavepoint(write: () => unknown): unknown {
    savepoint.run();
    const value = write();
    release.run();
    return value;
  }

  /** Undoes a write that threw; false when it cannot be undone alone. */
  function undo(item: GroupItem): boolean {
    // A full or failing disk makes SQLite end the whole transaction: earlier writes of the group are gone as well.
    if (!database.isTransaction) return false;
    if (!item.inSavepoint) return true;
    try {
      rollbackToSavepoint.run();
      release.run();
      return true;
    } catch {
      return false;
    }
  }

  function rollback(): void {
    if (database.isTransaction) database.exec('ROLLBACK');
  }

  return {
    begin() {
      // Left over only if a rollback failed; its writes were rejected, so they must not be committed now.
      rollback();
      begin.run();
    },
    commit(group) {
      for (const item of group) {
        try {
          item.outcome = item.inSavepoint ? runInSavepoint(item.write) : item.write();
        } catch (error) {
          item.failed = true;
          item.outcome = error;
          if (!undo(item)) return new StoreWriteError('the transaction was lost', error);
        }
      }
      try {
        commit.run();
        return null;
      } catch (error) {
        return new StoreWriteError('the transaction could not be committed', error);
      }
    },
    rollback,
  };
}
