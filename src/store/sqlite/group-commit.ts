import type { DatabaseSync } from 'node:sqlite';
import { StoreClosedError, StoreOverloadedError, StoreWriteError } from '../store-errors.ts';
import { isBusy } from './sqlite-error.ts';

/** The most writes that share a commit; what is left waits for the next turn of the event loop. */
const MAXIMUM_GROUP = 256;
/** The most writes that may wait. */
const MAXIMUM_WAITING = 20_000;
/** A lock held by another program is tried again this often, without blocking the event loop. */
const BUSY_RETRY_MS = 5;
const BUSY_LIMIT_MS = 2_000;

/**
 * Writes of one turn of the event loop share one durable commit: a commit costs some 30 times a row. A write is
 * synchronous, its promise resolves once it is durable, and a write that throws fails alone.
 */
export interface GroupCommit {
  /** For a write of a single statement, which SQLite itself undoes when it fails. */
  runStatement<T>(write: () => T): Promise<T>;
  /** For a write of several statements: all or none of them take effect. */
  runTransaction<T>(write: () => T): Promise<T>;
  /** Commits what is waiting; later writes reject. */
  close(): Promise<void>;
}

interface Item {
  readonly write: () => unknown;
  readonly inSavepoint: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  failed: boolean;
  /** The write's value, or its error if it failed. */
  outcome: unknown;
}

/**
 * @param onError told once of each group that failed as a whole; every write of it rejects as well
 * @param monotonicMs for the time a lock is waited for
 */
export function createGroupCommit(
  database: DatabaseSync,
  onError: (error: Error) => void = () => {},
  monotonicMs: () => number = () => performance.now(),
): GroupCommit {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const savepoint = database.prepare('SAVEPOINT item');
  const release = database.prepare('RELEASE item');
  const rollbackToSavepoint = database.prepare('ROLLBACK TO item');
  let waiting: Item[] = [];
  let isScheduled = false;
  let busySinceMs: number | null = null;
  let closing: PromiseWithResolvers<void> | null = null;

  function enqueue<T>(write: () => T, inSavepoint: boolean): Promise<T> {
    if (closing !== null) return Promise.reject(new StoreClosedError());
    if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
    return new Promise<T>((resolve, reject) => {
      waiting.push({
        write,
        inSavepoint,
        resolve: resolve as (value: unknown) => void,
        reject,
        failed: false,
        outcome: undefined,
      });
      schedule();
    });
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (waiting.length > 0 && tryBegin()) {
      commitGroup(waiting.length <= MAXIMUM_GROUP ? takeAll() : waiting.splice(0, MAXIMUM_GROUP));
    }
    if (waiting.length > 0) schedule();
    else if (!isScheduled) closing?.resolve();
  }

  function takeAll(): Item[] {
    const group = waiting;
    waiting = [];
    return group;
  }

  /** False when nothing can be written now: everything was rejected, or a later turn is scheduled. */
  function tryBegin(): boolean {
    try {
      // Left over only if a rollback failed; its writes were rejected, so they must not be committed now.
      if (database.isTransaction) database.exec('ROLLBACK');
      begin.run();
      busySinceMs = null;
      return true;
    } catch (error) {
      busySinceMs ??= monotonicMs();
      if (isBusy(error) && monotonicMs() - busySinceMs < BUSY_LIMIT_MS) {
        isScheduled = true;
        setTimeout(flush, BUSY_RETRY_MS);
      } else {
        busySinceMs = null;
        failGroup(takeAll(), new StoreWriteError('no transaction could be started', error));
      }
      return false;
    }
  }

  function commitGroup(group: Item[]): void {
    const loss = tryCommit(group);
    if (loss !== null) {
      failGroup(group, loss);
      return;
    }
    for (const item of group) {
      if (item.failed) item.reject(item.outcome);
      else item.resolve(item.outcome);
    }
  }

  /** Null once the group is durable, else why all of it is lost. */
  function tryCommit(group: Item[]): StoreWriteError | null {
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
  }

  function runInSavepoint(write: () => unknown): unknown {
    savepoint.run();
    const value = write();
    release.run();
    return value;
  }

  /** Undoes a write that threw; false when it cannot be undone alone. */
  function undo(item: Item): boolean {
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

  function failGroup(group: Item[], error: StoreWriteError): void {
    try {
      if (database.isTransaction) database.exec('ROLLBACK');
    } catch (rollbackError) {
      onError(new StoreWriteError('a failed transaction could not be rolled back', rollbackError));
    }
    for (const item of group) item.reject(error);
    onError(error);
  }

  return {
    runStatement: (write) => enqueue(write, false),
    runTransaction: (write) => enqueue(write, true),
    close() {
      closing ??= Promise.withResolvers<void>();
      schedule();
      return closing.promise;
    },
  };
}
