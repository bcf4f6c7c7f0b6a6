import { chmodSync, closeSync, openSync } from 'node:fs';

/**
 * Creates a file that only its owner can read and write, or restricts an existing one without opening it: closing any
 * descriptor of a file drops all POSIX locks of the process on it, including SQLite's.
 */
export function makeOwnFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  chmodSync(file, 0o600);
}
