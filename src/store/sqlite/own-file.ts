import { chmodSync, closeSync, openSync } from 'node:fs';

/**
 * Makes a file that only its owner can read and write, or takes these rights from others if it is there already. SQLite
 * itself would make it readable for everyone, as the umask allows.
 *
 * A file that exists is never opened here: POSIX drops all locks of a process on a file when the process closes any
 * descriptor of it, and with them SQLite's.
 */
export function makeOwnFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  chmodSync(file, 0o600);
}
