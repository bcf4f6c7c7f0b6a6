import { closeSync, fchmodSync, openSync } from 'node:fs';

/**
 * Makes a file that only its owner can read and write, or takes these rights from others if it is there already. SQLite
 * itself would make it readable for everyone, as the umask allows.
 */
export function makeOwnFile(file: string): void {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    fchmodSync(descriptor, 0o600);
  } finally {
    closeSync(descriptor);
  }
}
