import { DatabaseSync } from 'node:sqlite';
import { makeOwnFile } from './own-file.ts';

/** While opening, nothing is served yet, so that waiting for a lock may block. */
const OPENING_TIMEOUT_MS = 2_000;
const PAGE_CACHE_KIB = 16 * 1024;
const MAXIMUM_IDLE_WAL_BYTES = 64 * 1024 * 1024;

/**
 * Opens or creates a database so that a commit survives a power loss: WAL with `synchronous=FULL` (`NORMAL` would
 * lose the last commits). Only its owner can read the file; SQLite gives `-wal` and `-shm` the same mode.
 */
export function openDatabase(file: string): DatabaseSync {
  makeOwnFile(file);
  const database = new DatabaseSync(file, { timeout: OPENING_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${PAGE_CACHE_KIB};
      PRAGMA journal_size_limit = ${MAXIMUM_IDLE_WAL_BYTES};
    `);
    // From here on a lock must never block the event loop: the group commit tries again by itself.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
