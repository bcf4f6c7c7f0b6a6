import { createHmac } from 'node:crypto';
import { deriveKeys } from './derived-keys.ts';

/** Hashes that nobody can try out without the server's secret. */
export interface KeyedHash {
  /** With the current secret. */
  of(text: string): string;
  /** With every secret we hold: one of them is the hash that was kept. */
  candidates(text: string): readonly string[];
}

/** HMAC-SHA-256 under a key of this purpose alone. */
export function createKeyedHash(
  purpose: string,
  secret: string,
  previousSecrets: readonly string[] = [],
): KeyedHash {
  const keys = deriveKeys(purpose, secret, previousSecrets);
  const candidates = (text: string) =>
    keys.map(({ key }) => createHmac('sha256', key).update(text).digest('base64url'));
  return { of: (text) => candidates(text)[0] as string, candidates };
}
