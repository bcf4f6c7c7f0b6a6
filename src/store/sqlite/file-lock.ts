import { DatabaseSync } from 'node:sqlite';
import { StoreInUseError } from '../store-errors.ts';
import { makeOwnFile } from './own-file.ts';
import { isBusy } from './sqlite-error.ts';

/**
 * Takes the right to serve a database file, for as long as this process lives or until the returned function is
 * called. Node has no flock, so the lock is an exclusive transaction on a separate SQLite file: the operating
 * system lets go of it with the process, also after kill -9, and readers of the database itself are not touched. Only its owner can open the file: another user who could would keep the service from starting.
 *
 * @throws StoreInUseError when another process, or another store of this one, holds it
 */
export function lockFile(file: string): () => void {
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
