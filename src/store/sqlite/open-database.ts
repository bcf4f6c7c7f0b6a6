import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreInUseError } from '../store-errors.ts';

/** Lock timeout while opening. Waiting may block the event loop, because no requests are served yet. */
const OPENING_TIMEOUT_MS = 2_000;
const PAGE_CACHE_KIB = 16 * 1024;
const MAXIMUM_IDLE_WAL_BYTES = 64 * 1024 * 1024;

/**
 * Creates a file that only its owner can read and write, or restricts an existing file. Does not open an existing file,
 * because closing any descriptor drops all POSIX locks of the process on that file, including SQLite's.
 */
export function makeOwnFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  chmodSync(file, 0o600);
}

/** Opens or creates a private database whose commits survive a power loss, unlike those of `synchronous=NORMAL`. */
export function openDatabase(file: string): DatabaseSync {
  makeOwnFile(file);
  const database = new DatabaseSync(file, {
    timeout: OPENING_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
  });
  try {
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${PAGE_CACHE_KIB};
      PRAGMA journal_size_limit = ${MAXIMUM_IDLE_WAL_BYTES};
    `);
    // Disables the lock timeout, which would block the event loop. The group commit retries instead.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Locks a database file for this process, until it ends or the returned function is called. Node has no flock, so the
 * lock is an exclusive transaction on a separate SQLite file, which the operating system releases even after kill -9.
 * Only the file's owner can open it, because another user could otherwise keep the service from starting. Throws
 * `StoreInUseError` if another process has locked the database.
 */
function lockFile(file: string): () => void {
  const lockName = `${file}.lock`;
  makeOwnFile(lockName);
  const lock = new DatabaseSync(lockName, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw isBusy(error) ? new StoreInUseError(file) : error;
  }
  return () => lock.close();
}

/** Throws `StoreInUseError` if another process, or another store in this process, has locked the database. */
export function openLocked(file: string): { database: DatabaseSync; close(): Promise<void> } {
  const unlock = lockFile(file);
  try {
    const database = openDatabase(file);
    return {
      database,
      async close() {
        // Closing rolls back an open transaction.
        database.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** SQLite's primary result code when another connection holds the lock. */
const SQLITE_BUSY = 5;
/** Mask for the low byte, which is the primary code in extended result codes. */
const PRIMARY_CODE_MASK = 0xff;

/** Returns whether another connection holds the lock, so that a retry makes sense. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  return (error.errcode & PRIMARY_CODE_MASK) === SQLITE_BUSY;
}
