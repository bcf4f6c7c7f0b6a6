import type { DatabaseSync } from 'node:sqlite';
import { StoreClosedError, StoreOverloadedError, StoreWriteError } from '../store-errors.ts';
import { isBusy } from './open-database.ts';

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
interface GroupTransaction {
  /** @throws what SQLite says, a lock held by another program among it */
  begin(): void;
  /** Runs the writes and commits them. Null once they are durable, else why all of them are lost. */
  commit(group: readonly GroupItem[]): StoreWriteError | null;
  /** After a loss. @throws when SQLite cannot even roll back */
  rollback(): void;
}

function createGroupTransaction(database: DatabaseSync): GroupTransaction {
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

/** The most that is served in one turn of the event loop; what is left waits for the next one. */
const MAXIMUM_GROUP = 256;
/** The most that may wait. */
const MAXIMUM_WAITING = 20_000;

/** Something asked of the store, with the promise it was answered by. */
interface Request<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects what is asked for within a turn of the event loop, so that it can be served together. */
interface TickQueue<Work> {
  /** Rejects when the queue is closed (`StoreClosedError`) or too much waits (`StoreOverloadedError`). */
  ask<T>(work: Work): Promise<T>;
  /** Resolves once everything that waits is served; what is asked later rejects. */
  close(): Promise<void>;
}

/**
 * @param serve answers each request of a group; or answers none and returns the milliseconds after which it wants
 * to be called again
 */
function createTickQueue<Work>(serve: (group: readonly Request<Work>[]) => number | null): TickQueue<Work> {
  let waiting: Request<Work>[] = [];
  let isScheduled = false;
  let closing: PromiseWithResolvers<void> | null = null;

  function schedule(afterMs: number | null): void {
    if (isScheduled) return;
    isScheduled = true;
    if (afterMs === null) setImmediate(flush);
    else setTimeout(flush, afterMs);
  }

  function flush(): void {
    isScheduled = false;
    const group = takeGroup();
    const againAfterMs = group.length === 0 ? null : serve(group);
    if (againAfterMs !== null) waiting = [...group, ...waiting];
    if (waiting.length > 0) schedule(againAfterMs);
    else closing?.resolve();
  }

  /** Taken out before it is served, as serving may ask for more. */
  function takeGroup(): Request<Work>[] {
    if (waiting.length > MAXIMUM_GROUP) return waiting.splice(0, MAXIMUM_GROUP);
    const group = waiting;
    waiting = [];
    return group;
  }

  return {
    ask<T>(work: Work): Promise<T> {
      if (closing !== null) return Promise.reject(new StoreClosedError());
      if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ work, resolve, reject });
      schedule(null);
      return promise as Promise<T>;
    },
    close() {
      closing ??= Promise.withResolvers<void>();
      schedule(null);
      return closing.promise;
    },
  };
}

type Read = () => unknown;

/**
 * Reads of one turn of the event loop share one read transaction: taking and leaving the database's shared lock
 * costs as much as a small read.
 */
export interface GroupRead {
  /** Runs a synchronous read; a read that throws fails alone. */
  run<T>(read: () => T): Promise<T>;
  /** Answers what is waiting; later reads reject. */
  close(): Promise<void>;
}

export function createGroupRead(database: DatabaseSync): GroupRead {
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');

  function serve(group: readonly Request<Read>[]): null {
    // Alone, a read needs no transaction: this process is the only writer, and it writes between reads.
    const isShared = group.length > 1;
    try {
      // Left over only if a rollback failed; what it wrote must not be read.
      if (database.isTransaction) database.exec('ROLLBACK');
      if (isShared) begin.run();
    } catch (error) {
      for (const request of group) request.reject(error);
      return null;
    }
    for (const request of group) answerReads(request);
    if (isShared) commit.run();
    return null;
  }

  const queue = createTickQueue(serve);
  return { run: (read) => queue.ask(read), close: () => queue.close() };
}

function answerReads({ work: read, resolve, reject }: Request<Read>): void {
  try {
    resolve(read());
  } catch (error) {
    reject(error);
  }
}
