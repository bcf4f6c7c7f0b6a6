import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeOwnFile } from './write-own-file.ts';

/**
 * The sandbox's own secret: made at its first start and kept in its data folder, so that tokens stay good. Throws
 * when the file was damaged. Called under the store's lock, so no other process makes one at the same time.
 */
export function readOrCreateSecretKey(dataDir: string): string {
  const file = join(dataDir, 'sandbox-secret-key');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) writeOwnFile(file, randomBytes(32).toString('hex'));
  const secretKey = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(secretKey)) throw new Error(`${file} is damaged: it must hold 64 hex digits`);
  return secretKey;
}
