import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { StoreInUseError } from '../store-errors.ts';
import { makeOwnFile } from './private-file.ts';

/** May block, because nothing is served while opening. */
const OPENING_TIMEOUT_MS = 2_000;
const PAGE_CACHE_KIB = 16 * 1024;
const MAXIMUM_IDLE_WAL_BYTES = 64 * 1024 * 1024;

/**
 * Opens or creates a database whose commits survive a power loss: WAL with `synchronous=FULL` (`NORMAL` would lose the
 * last ones). Only its owner can read the file; SQLite gives `-wal` and `-shm` the same mode.
 */
export function openDatabase(file: string): DatabaseSync {
  makeOwnFile(file);
  const database = new ReadableDatabase(file, {
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
    // From now on, locks must not block the event loop, because the group commit retries.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Reads rows with any integer. node:sqlite refuses all rows of a statement if one integer exceeds JavaScript's exact
 * range, so one such row would end every pass over its table.
 */
class ReadableDatabase extends DatabaseSync {
  override prepare(...given: Parameters<DatabaseSync['prepare']>): StatementSync {
    const statement = super.prepare(...given);
    // Never repeats a statement that changes rows.
    if (!/^\s*(?:SELECT|WITH)\b/i.test(given[0])) return statement;
    const all = statement.all.bind(statement);
    const get = statement.get.bind(statement);
    const withBigInts = <Rows>(read: () => Rows, convert: (rows: Rows) => Rows): Rows => {
      try {
        return read();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_OUT_OF_RANGE') throw error;
      }
      statement.setReadBigInts(true);
      try {
        return convert(read());
      } finally {
        statement.setReadBigInts(false);
      }
    };
    return Object.assign(statement, {
      all: (...values: SQLInputValue[]) =>
        withBigInts(
          () => all(...values),
          (rows) => rows.map(withNumbers),
        ),
      get: (...values: SQLInputValue[]) =>
        withBigInts(
          () => get(...values),
          (row) => row && withNumbers(row),
        ),
    });
  }
}

/** Largest time of a `Date`, which every reader accepts, as a time or an amount. */
const GREATEST_READABLE = 8_640_000_000_000_000;

/** Converts bigints to numbers; those beyond the exact range become the largest that every reader accepts. */
function withNumbers<Row extends object>(row: Row): Row {
  const convert = (value: unknown) => {
    if (typeof value !== 'bigint') return value;
    if (Number.isSafeInteger(Number(value))) return Number(value);
    return value > 0n ? GREATEST_READABLE : -GREATEST_READABLE;
  };
  if (Array.isArray(row)) return row.map(convert) as unknown as Row;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, convert(value)])) as Row;
}

/**
 * Locks a database file for this process, until it ends or the returned function is called. Node has no flock, so the
 * lock is an exclusive transaction on a separate SQLite file: the operating system releases it with the process, even
 * after kill -9, and readers of the database are not affected. Only the file's owner can open it, because another user
 * could otherwise keep the service from starting. Throws `StoreInUseError` when another process, or another store of
 * this one, holds it.
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

/** Throws `StoreInUseError` when another process, or another store of this one, holds the database. */
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

/** SQLite's primary result code for "another connection has the lock". */
const SQLITE_BUSY = 5;
/** Extended result codes carry the primary one in their low byte. */
const PRIMARY_CODE_MASK = 0xff;

/** Whether another connection holds the lock, so that a retry makes sense. */
export function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  return (error.errcode & PRIMARY_CODE_MASK) === SQLITE_BUSY;
}
