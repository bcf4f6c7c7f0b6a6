import { hash, randomBytes } from 'node:crypto';

/** What opens a session or a link: 256 random bits, of which the store has a hash only. */
export interface SecretToken {
  readonly token: string;
  readonly tokenHash: string;
}

export function createSecretToken(): SecretToken {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: hashSecretToken(token) };
}

/** SHA-256 in hex: with 256 random bits no salt is needed. */
export function hashSecretToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Whether a text could be a token at all, before it is hashed. */
export function looksLikeSecretToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}
