import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder that only this user can open, and the missing ones above it. Not by the `recursive` option of
 * `mkdirSync`, which never returns where the system says of a folder in an existing one that its parent is missing, as
 * in `/proc`.
 *
 * @throws the error of the system for the first folder that cannot be created
 */
export function createPrivateFolder(folder: string): void {
  if (existsSync(folder)) return;
  createPrivateFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process was quicker.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
