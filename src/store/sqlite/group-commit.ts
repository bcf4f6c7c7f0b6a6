import type { DatabaseSync } from 'node:sqlite';
import { StoreWriteError } from '../store-errors.ts';
import { createGroupTransaction, type GroupItem } from './group-transaction.ts';
import { isBusy } from './sqlite-error.ts';
import { createTickQueue, type Request } from './tick-queue.ts';

/** A lock held by another program is tried again this often, without blocking the event loop. */
const BUSY_RETRY_MS = 5;
/** After this time what waits is rejected, and each later write is tried once until the lock is gone. */
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

/**
 * @param onError told once of each group that failed as a whole; every write of it rejects as well
 * @param monotonicMs for the time a lock is waited for
 */
export function createGroupCommit(
  database: DatabaseSync,
  onError: (error: Error) => void = () => {},
  monotonicMs: () => number = () => performance.now(),
): GroupCommit {
  const transaction = createGroupTransaction(database);
  let busySinceMs: number | null = null;

  function serve(group: readonly Request<GroupItem>[]): number | null {
    try {
      transaction.begin();
      busySinceMs = null;
    } catch (error) {
      if (isBusy(error)) {
        busySinceMs ??= monotonicMs();
        if (monotonicMs() - busySinceMs < BUSY_LIMIT_MS) return BUSY_RETRY_MS;
      }
      fail(group, new StoreWriteError('no transaction could be started', error));
      return null;
    }
    const loss = transaction.commit(group.map((request) => request.work));
    if (loss === null) answer(group);
    else fail(group, loss);
    return null;
  }

  function fail(group: readonly Request<GroupItem>[], error: StoreWriteError): void {
    try {
      transaction.rollback();
    } catch (rollbackError) {
      onError(new StoreWriteError('a failed transaction could not be rolled back', rollbackError));
    }
    for (const request of group) request.reject(error);
    onError(error);
  }

  const queue = createTickQueue(serve);
  const itemOf = (write: () => unknown, inSavepoint: boolean): GroupItem => ({
    write,
    inSavepoint,
    failed: false,
    outcome: undefined,
  });
  return {
    runStatement: (write) => queue.ask(itemOf(write, false)),
    runTransaction: (write) => queue.ask(itemOf(write, true)),
    close: () => queue.close(),
  };
}

function answer(group: readonly Request<GroupItem>[]): void {
  for (const { work, resolve, reject } of group) {
    if (work.failed) reject(work.outcome);
    else resolve(work.outcome);
  }
}
