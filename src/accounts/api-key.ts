import { hash, randomBytes } from 'node:crypto';
import { invalidField } from '../payment/errors.ts';
import type { Role } from './person.ts';

/** Prefix of every API key, set by the specification. */
export const API_KEY_PREFIX = 'service_live_';

/** Scopes of API keys, with their labels in the dashboard. */
export const scopeLabels = {
  create: 'Create checkouts',
  read: 'Read payments and events',
  cancel: 'Cancel payments',
  refund: 'Open and cancel refunds',
  audit: 'Read the audit log',
} as const;
export type KeyScope = keyof typeof scopeLabels;
export const keyScopes = Object.keys(scopeLabels) as readonly KeyScope[];
/** All scopes except `audit`, because the audit log contains email and IP addresses. */
export const defaultScopes: readonly KeyScope[] = keyScopes.filter((scope) => scope !== 'audit');

/** Returns the role required to create a key with these scopes, so that a key never exceeds its creator's rights. */
export const roleForScopes = (scopes: readonly KeyScope[]): Role =>
  scopes.includes('audit') ? 'owner' : 'developer';

/** Parses scopes separated by spaces or commas. Empty text means the default scopes. Throws `invalid_request`. */
export function parseScopes(text: string): readonly KeyScope[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names) {
    if (!Object.hasOwn(scopeLabels, name))
      throw invalidField('scopes', `must be a list of ${keyScopes.join(', ')}`);
  }
  return names.length === 0 ? defaultScopes : keyScopes.filter((scope) => names.includes(scope));
}

const SECRET_LENGTH = 32; // 24 bytes in base64url: 192 random bits
const CHECKSUM_LENGTH = 6;
const apiKeyPattern = new RegExp(`^${API_KEY_PREFIX}[A-Za-z0-9_-]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

function checksumOf(secret: string): string {
  return hash('sha256', `card-checkout key ${secret}`, 'base64url').slice(0, CHECKSUM_LENGTH);
}

/** Creates an API key: prefix, 192 random bits, and a checksum with which leak scanners recognize keys. */
export function createApiKey(): string {
  const secret = randomBytes(24).toString('base64url');
  return API_KEY_PREFIX + secret + checksumOf(secret);
}

/** Returns whether a text has the form of an API key, so that other text is refused without hashing it. */
export function hasApiKeyForm(text: string): boolean {
  return apiKeyPattern.test(text);
}

/** Returns the SHA-256 of an API key in hex. A key has 192 random bits, so the hash needs no salt. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Returns the masked form of a key for display, such as "service_live_…R8mQ". */
export function maskApiKey(lastCharacters: string): string {
  return `${API_KEY_PREFIX}…${lastCharacters}`;
}
