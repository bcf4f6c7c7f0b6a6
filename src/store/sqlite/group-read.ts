import type { DatabaseSync } from 'node:sqlite';
import { StoreClosedError, StoreOverloadedError } from '../store-errors.ts';

/** The most reads of one turn of the event loop. */
const MAXIMUM_GROUP = 256;
/** The most reads that may wait. */
const MAXIMUM_WAITING = 20_000;

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

interface Item {
  readonly read: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export function createGroupRead(database: DatabaseSync): GroupRead {
  const begin = database.prepare('BEGIN');
  const commit = database.prepare('COMMIT');
  const waiting: Item[] = [];
  let isScheduled = false;
  let closing: PromiseWithResolvers<void> | null = null;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    isScheduled = false;
    const group = waiting.splice(0, MAXIMUM_GROUP);
    if (group.length > 0 && tryBegin(group)) {
      for (const item of group) answer(item);
      if (group.length > 1) commit.run();
    }
    if (waiting.length > 0) schedule();
    else closing?.resolve();
  }

  /** Alone, a read needs no transaction: this process is the only writer, and it writes between reads. */
  function tryBegin(group: Item[]): boolean {
    try {
      // Left over only if a rollback failed; what it wrote must not be read.
      if (database.isTransaction) database.exec('ROLLBACK');
      if (group.length > 1) begin.run();
      return true;
    } catch (error) {
      for (const item of group) item.reject(error);
      return false;
    }
  }

  function answer(item: Item): void {
    try {
      item.resolve(item.read());
    } catch (error) {
      item.reject(error);
    }
  }

  return {
    run<T>(read: () => T): Promise<T> {
      if (closing !== null) return Promise.reject(new StoreClosedError());
      if (waiting.length >= MAXIMUM_WAITING) return Promise.reject(new StoreOverloadedError(waiting.length));
      return new Promise<T>((resolve, reject) => {
        waiting.push({ read, resolve: resolve as (value: unknown) => void, reject });
        schedule();
      });
    },
    close() {
      closing ??= Promise.withResolvers<void>();
      schedule();
      return closing.promise;
    },
  };
}
