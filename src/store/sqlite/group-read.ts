import type { DatabaseSync } from 'node:sqlite';
import { createTickQueue, type Request } from './tick-queue.ts';

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
    for (const request of group) answer(request);
    if (isShared) commit.run();
    return null;
  }

  const queue = createTickQueue(serve);
  return { run: (read) => queue.ask(read), close: () => queue.close() };
}

function answer({ work: read, resolve, reject }: Request<Read>): void {
  try {
    resolve(read());
  } catch (error) {
    reject(error);
  }
}
