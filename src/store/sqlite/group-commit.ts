import type { DatabaseSync } from 'node:sqlite';
import { StoreClosedError, StoreOverloadedError, StoreWriteError } from '../store-errors.ts';
import { createGroupTransaction, type GroupItem } from './group-transaction.ts';
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

interface WaitingWrite extends GroupItem {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
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
  let waiting: WaitingWrite[] = [];
  let isScheduled = false;
  let busySinceMs: number | null = null;
  let closing: PromiseWithResolvers<void> | null = null;

  function enqueue<T>(write: () => T, inSavepoint: boolean): Promise<T> {
    if (closing !== null) return Promise.reject(new StoreClosedError());
    if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.push({ write, inSavepoint, resolve, reject, failed: false, outcome: undefined });
    schedule();
    return promise as Promise<T>;
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    if (waiting.length > 0 && tryBegin()) finish(takeGroup());
    if (waiting.length > 0) schedule();
    else closing?.resolve();
  }

  function takeGroup(): WaitingWrite[] {
    if (waiting.length > MAXIMUM_GROUP) return waiting.splice(0, MAXIMUM_GROUP);
    const group = waiting;
    waiting = [];
    return group;
  }

  /** False when nothing can be written now: a later turn is scheduled, or everything was rejected. */
  function tryBegin(): boolean {
    try {
      transaction.begin();
      busySinceMs = null;
      return true;
    } catch (error) {
      busySinceMs ??= monotonicMs();
      if (isBusy(error) && monotonicMs() - busySinceMs < BUSY_LIMIT_MS) {
        isScheduled = true;
        setTimeout(flush, BUSY_RETRY_MS);
        return false;
      }
      busySinceMs = null;
      const group = waiting;
      waiting = [];
      fail(group, new StoreWriteError('no transaction could be started', error));
      return false;
    }
  }

  function finish(group: readonly WaitingWrite[]): void {
    const loss = transaction.commit(group);
    if (loss !== null) {
      fail(group, loss);
      return;
    }
    for (const item of group) {
      if (item.failed) item.reject(item.outcome);
      else item.resolve(item.outcome);
    }
  }

  function fail(group: readonly WaitingWrite[], error: StoreWriteError): void {
    try {
      transaction.rollback();
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
