import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The sandbox's own secret: made at its first start and kept in its data folder, so that tokens stay good. */
export function readOrCreateSecretKey(dataDir: string): string {
  const file = join(dataDir, 'sandbox-secret-key');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    // `wx` fails when the file exists, so two processes that start at once agree on one secret.
    writeFileSync(file, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
