import { randomBytes } from 'node:crypto';
import { ServiceError } from '../payment/errors.ts';
import type { ApiKey } from './account.ts';
import { createApiKey, defaultScopes, hashApiKey, maskApiKey } from './api-key.ts';
import { type AccountsContext, findExistingAccount } from './manage-accounts.ts';
import { parseName } from './shop-profile.ts';

/** Maximum active keys of an account. Revoked keys do not count. */
export const MAXIMUM_ACTIVE_KEYS = 10;

export interface CreatedKey {
  readonly key: ApiKey;
  /** The key itself, shown once and not stored. */
  readonly plainKey: string;
}

/** Creates an API key. Throws `invalid_request` (name), `not_found` (account) or `too_many_keys` (maximum reached). */
export async function createKey(
  context: AccountsContext,
  accountId: string,
  {
    name,
    scopes = defaultScopes,
    callbackHost = null,
  }: { readonly name: string } & Partial<Pick<ApiKey, 'scopes' | 'callbackHost'>>,
): Promise<CreatedKey> {
  const label = parseName(name);
  await findExistingAccount(context, accountId);
  const plainKey = createApiKey();
  const key: ApiKey = {
    id: `key_${randomBytes(10).toString('hex')}`,
    accountId,
    name: label,
    hash: hashApiKey(plainKey),
    lastCharacters: plainKey.slice(-4),
    scopes,
    callbackHost,
    createdAtMs: context.nowMs(),
    revokedAtMs: null,
    lastUsedAtMs: null,
  };
  if (!(await context.accounts.createKey(key, MAXIMUM_ACTIVE_KEYS))) {
    throw new ServiceError(
      'too_many_keys',
      `The account already has ${MAXIMUM_ACTIVE_KEYS} active keys: revoke one first.`,
    );
  }
  return { key, plainKey };
}

export function describeKey({ name, lastCharacters }: ApiKey): string {
  return `${name} (${maskApiKey(lastCharacters)})`;
}

/** Revokes a key, with which all later requests are refused. Throws `not_found` for an unknown key. */
export async function revokeKey(context: AccountsContext, keyId: string): Promise<ApiKey> {
  const key = await context.accounts.revokeKey(keyId, context.nowMs());
  if (key === null) throw new ServiceError('not_found', `The key ${keyId} does not exist.`);
  return key;
}

/** Revokes a key of this account. Throws `not_found` for an unknown key or another account's key. */
export async function revokeOwnKey(
  context: AccountsContext,
  accountId: string,
  keyId: string,
): Promise<ApiKey> {
  // Checks the owner before the revocation, which is safe because keys never move to another account.
  await findOwnKey(context, accountId, keyId);
  return revokeKey(context, keyId);
}

/** Returns an active key of this account. Throws `not_found` for unknown, revoked and other accounts' keys. */
export async function findOwnKey(
  { accounts }: Pick<AccountsContext, 'accounts'>,
  accountId: string,
  keyId: string,
): Promise<ApiKey> {
  const keys = await accounts.listKeys(accountId);
  const key = keys.find(({ id, revokedAtMs }) => id === keyId && revokedAtMs === null);
  if (key === undefined) throw new ServiceError('not_found');
  return key;
}
