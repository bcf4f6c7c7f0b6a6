import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const FOLDER = '/dev/shm';
/** Minimum free space, several times the peak of all tests. */
const NEEDED_BYTES = 6 * 1024 ** 3;

/**
 * Folder in memory; null if there is none, if it or the machine has too little room, or if it is mounted `noexec`.
 * Tests create thousands of temporary databases, which would wait for the disk at every commit.
 */
export function memoryFolder(): string | null {
  if (!existsSync(FOLDER)) return null;
  const { bavail, bsize } = statfsSync(FOLDER);
  const freeBytes = Math.min(bavail * bsize, availableMemory());
  return freeBytes >= NEEDED_BYTES && mayRunFiles(FOLDER) ? FOLDER : null;
}

/** Memory that this process can still use, by the machine and by its container. */
function availableMemory(): number {
  return Math.min(freemem(), process.availableMemory());
}

/** Some systems mount it `noexec`, but tests run a database server there. */
function mayRunFiles(folder: string): boolean {
  const file = join(folder, `card-checkout-may-run-${process.pid}`);
  try {
    writeFileSync(file, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    return spawnSync(file).status === 0;
  } catch {
    return false;
  } finally {
    rmSync(file, { force: true });
  }
}
