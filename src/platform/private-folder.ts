import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder that only this user can open, and its missing parents. Avoids the `recursive` option of `mkdirSync`,
 * which loops forever where the system answers ENOENT although the parent exists, as in `/proc`. Throws the system's
 * error for the first folder that cannot be created.
 */
export function createPrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  createPrivateFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
