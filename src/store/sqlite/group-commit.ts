import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { StoreClosedError, StoreWriteError } from '../store-errors.ts';
import { createTickQueue, type Request } from '../tick-queue.ts';
import { isBusy } from './open-database.ts';

/** A lock held by another program is tried again this often, without blocking the event loop. */
const BUSY_RETRY_MS = 5;
/** After this time what waits is rejected, and each later write is tried once until the lock is gone. */
const BUSY_LIMIT_MS = 2_000;

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Writes of one turn of the event loop share one durable commit: a commit costs some 30 times a row. A write is
 * synchronous, its promise resolves once it is durable, and a write that throws fails alone.
 *
 * @param onError told once of each group that failed as a whole; every write of it rejects as well
 * @param monotonicMs for the time a lock is waited for
 */
export function createGroupCommit(
  database: DatabaseSync,
  onError: (error: Error) => void = () => {},
  monotonicMs: () => number = () => performance.now(),
) {
  const transaction = createGroupTransaction(database);
  let busySinceMs: number | null = null;

  /** False while another program holds the lock and it is worth waiting for. */
  function begin(): boolean {
    try {
      transaction.begin();
      busySinceMs = null;
      return true;
    } catch (error) {
      if (isBusy(error)) {
        busySinceMs ??= monotonicMs();
        if (monotonicMs() - busySinceMs < BUSY_LIMIT_MS) return false;
      }
      throw new StoreWriteError('no transaction could be started', { cause: error });
    }
  }

  /** Nothing is awaited between begin and commit: no read and no other write comes between. */
  async function serve(group: readonly Request<GroupItem>[]): Promise<void> {
    try {
      while (!begin()) await delay(BUSY_RETRY_MS);
      transaction.commit(group.map(({ work }) => work));
    } catch (error) {
      rollback();
      onError(error as StoreWriteError);
      throw error;
    }
    for (const { work, resolve, reject } of group) {
      if (work.failed) reject(work.outcome);
      else resolve(work.outcome);
    }
  }

  function rollback(): void {
    try {
      transaction.rollback();
    } catch (error) {
      onError(new StoreWriteError('a failed transaction could not be rolled back', { cause: error }));
    }
  }

  const queue = createTickQueue(serve, 1);
  const itemOf = (write: () => unknown, inSavepoint: boolean): GroupItem => ({
    write,
    inSavepoint,
    failed: false,
    outcome: undefined,
  });
  return {
    /** For a write of a single statement, which SQLite itself undoes when it fails. */
    runStatement: <T>(write: () => T): Promise<T> => queue.ask(itemOf(write, false)),
    /** For a write of several statements: all or none of them take effect. */
    runTransaction: <T>(write: () => T): Promise<T> => queue.ask(itemOf(write, true)),
    /** Commits what is waiting; later writes reject. */
    close: () => queue.close(),
  };
}

/** One write of a group, and what came of it. */
interface GroupItem {
  readonly write: () => unknown;
  /** Several statements, of which all or none take effect. */
  readonly inSavepoint: boolean;
  failed: boolean;
  /** The write's value, or its error if it failed. */
  outcome: unknown;
}

/** A transaction of several writes, in which a write that throws is undone alone. Synchronous. */
function createGroupTransaction(database: DatabaseSync) {
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

  /** After a loss. @throws when SQLite cannot even roll back */
  function rollback(): void {
    if (database.isTransaction) database.exec('ROLLBACK');
  }

  return {
    /** @throws what SQLite says, a lock held by another program among it */
    begin(): void {
      // Left over only if a rollback failed; its writes were rejected, so they must not be committed now.
      rollback();
      begin.run();
    },
    /** Runs the writes and commits them. @throws StoreWriteError when all of them are lost */
    commit(group: readonly GroupItem[]): void {
      for (const item of group) {
        try {
          item.outcome = item.inSavepoint ? runInSavepoint(item.write) : item.write();
        } catch (error) {
          item.failed = true;
          item.outcome = error;
          if (!undo(item)) throw new StoreWriteError('the transaction was lost', { cause: error });
        }
      }
      try {
        commit.run();
      } catch (error) {
        throw new StoreWriteError('the transaction could not be committed', { cause: error });
      }
    },
    rollback,
  };
}

export type Reads = ReturnType<typeof createReads>;

/**
 * Runs each synchronous read in a separate turn of the event loop, so that other requests proceed during a long list. This
 * process is the only writer, and it writes between reads.
 */
export function createReads(database: DatabaseSync) {
  let isClosed = false;
  return {
    async run<T>(read: () => T): Promise<T> {
      if (isClosed) throw new StoreClosedError();
      await nextTurn();
      // Left over only if a rollback failed; what it wrote must not be read.
      if (database.isTransaction) database.exec('ROLLBACK');
      return read();
    },
    /** Resolves after the reads that were asked for; later ones reject. */
    async close(): Promise<void> {
      isClosed = true;
      await nextTurn();
    },
  };
}
