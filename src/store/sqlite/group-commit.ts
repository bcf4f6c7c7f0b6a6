import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { StoreClosedError, StoreWriteError } from '../store-errors.ts';
import { createTickQueue, type Request } from '../tick-queue.ts';
import { isBusy } from './open-database.ts';

/** Retry interval while another program holds the write lock. Waiting does not block the event loop. */
const BUSY_RETRY_MS = 5;
/** Time after which waiting writes are rejected. Until the lock is free, each later group is tried only once. */
const BUSY_LIMIT_MS = 2_000;

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Commits the writes of one event-loop turn together, because a durable commit takes about 30 times as long as a row
 * insert. A write that throws is rolled back alone. Calls `onError` once per group that fails as a whole.
 */
export function createGroupCommit(
  database: DatabaseSync,
  onError: (error: Error) => void = () => {},
  monotonicMs: () => number = () => performance.now(),
) {
  const beginning = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const savepoint = database.prepare('SAVEPOINT item');
  const release = database.prepare('RELEASE item');
  const rollbackToSavepoint = database.prepare('ROLLBACK TO item');
  let busySinceMs: number | null = null;

  /** Begins a transaction. Returns false while another program holds the lock, up to `BUSY_LIMIT_MS`. */
  function begin(): boolean {
    try {
      // Rolls back a transaction left open by a failed rollback, whose writes were rejected and must not be committed.
      if (database.isTransaction) database.exec('ROLLBACK');
      beginning.run();
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

  /** Rolls back a write that threw. Returns false if the write cannot be rolled back alone. */
  function undo(): boolean {
    // After a disk error, SQLite ends the whole transaction, including the group's earlier writes.
    if (!database.isTransaction) return false;
    try {
      rollbackToSavepoint.run();
      release.run();
      return true;
    } catch {
      return false;
    }
  }

  /** Runs and commits writes. Returns functions that settle their promises. Throws `StoreWriteError` if all fail. */
  function runAll(group: readonly Request<() => unknown>[]): readonly (() => void)[] {
    const outcomes: (() => void)[] = [];
    for (const { work: write, resolve, reject } of group) {
      try {
        savepoint.run();
        const value = write();
        release.run();
        outcomes.push(() => resolve(value));
      } catch (error) {
        if (!undo()) throw new StoreWriteError('the transaction was lost', { cause: error });
        outcomes.push(() => reject(error));
      }
    }
    try {
      commit.run();
    } catch (error) {
      throw new StoreWriteError('the transaction could not be committed', { cause: error });
    }
    return outcomes;
  }

  /** Serves a group. Never awaits between begin and commit, so that nothing else can use the connection meanwhile. */
  async function serve(group: readonly Request<() => unknown>[]): Promise<void> {
    try {
      while (!begin()) await delay(BUSY_RETRY_MS);
      for (const settle of runAll(group)) settle();
    } catch (error) {
      rollback();
      onError(error as StoreWriteError);
      throw error;
    }
  }

  function rollback(): void {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch (error) {
      onError(new StoreWriteError('a failed transaction could not be rolled back', { cause: error }));
    }
  }

  const queue = createTickQueue(serve);
  return {
    /** Runs a write atomically: all of its statements take effect, or none. */
    run: <T>(write: () => T): Promise<T> => queue.ask(write),
    /** Resolves after all earlier writes. Later writes reject. */
    close: () => queue.close(),
  };
}

export type Reads = ReturnType<typeof createReads>;

/** Defers each synchronous read to a later event-loop turn, so that a long list does not block other requests. */
export function createReads(database: DatabaseSync) {
  let isClosed = false;
  return {
    async run<T>(read: () => T): Promise<T> {
      if (isClosed) throw new StoreClosedError();
      await nextTurn();
      // Rolls back a transaction left open by a failed rollback, whose writes must not be read.
      if (database.isTransaction) database.exec('ROLLBACK');
      return read();
    },
    /** Resolves after all earlier reads. Later reads reject. */
    async close(): Promise<void> {
      isClosed = true;
      await nextTurn();
    },
  };
}
