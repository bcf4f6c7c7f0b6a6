import { type Account, type AccountChange, type ActiveKey, isFeature } from '../domain/account.ts';
import { isKeyScope } from '../domain/api-key.ts';
import { UnknownStateError } from '../domain/errors.ts';
import type { AccountQuery, AccountStore } from '../domain/ports/account-store.ts';
import { isProviderId } from '../domain/provider-catalogue.ts';
import { isLogoType, type ShopLogo } from '../domain/shop-profile.ts';
import {
  checkedLimit,
  countOf,
  insert,
  lock,
  raw,
  run,
  type Script,
  type Scripts,
  select,
  selectOne,
  update,
} from './scripts.ts';
import { accountTable, keyTable, logoTable } from './tables.ts';

/**
 * Accounts and keys on any engine, but for what every request reads.
 *
 * @param noteChange told within the transaction when an account or a key has changed; null for an account whose key it is
 */
export function createAccounts(
  scripts: Scripts,
  noteChange: (accountId: string | null) => void = () => {},
): Omit<AccountStore, 'findAccount' | 'findActiveKey' | 'peekActiveKey'> {
  return {
    async createAccount(account) {
      await scripts.writeStatement(() => insert(accountTable, account));
    },
    listAccounts: async () =>
      (await scripts.read(() => select(accountTable)`ORDER BY created_at_ms, id`)).map(requireKnownNames),
    searchAccounts: async (query, limit) =>
      (await scripts.read(() => searchAccounts(query, checkedLimit(limit)))).map(requireKnownNames),
    updateAccount: (accountId, change) =>
      scripts.write(function* () {
        const changed = yield* updateAccount(accountId, change);
        noteChange(accountId);
        return changed;
      }),
    findLogo: (hash) => scripts.read(() => findLogo(hash)),
    createKey: (key, maximumActive) =>
      scripts.write(function* () {
        // Another one who makes keys of the same account at the same time, here or elsewhere, waits for this one.
        yield* lock(`keys of ${key.accountId}`);
        const active = yield* countOf`api_keys WHERE account_id = ${key.accountId} AND revoked_at_ms IS NULL`;
        if (active >= maximumActive) return false;
        yield* insert(keyTable, key);
        return true;
      }),
    listKeys: (accountId) =>
      scripts.read(() => select(keyTable)`WHERE account_id = ${accountId} ORDER BY created_at_ms, id`),
    async noteKeyUses(hashes, atMs) {
      await scripts.write(function* () {
        // Two instances would change the same keys in different orders.
        yield* lock('uses of keys');
        yield* run`UPDATE api_keys SET last_used_at_ms = ${atMs} WHERE hash = ANY(${hashes})`;
      });
    },
    revokeKey: (keyId, revokedAtMs) =>
      scripts.writeStatement(function* () {
        const [revoked] = yield* run`
          UPDATE api_keys SET revoked_at_ms = coalesce(revoked_at_ms, ${revokedAtMs}) WHERE id = ${keyId}
          RETURNING ${raw(keyTable.names)}`;
        noteChange(null);
        return revoked === undefined ? null : keyTable.ofRow(revoked);
      }),
  };
}

/** A list goes along the index of time; a search looks at every account on its way. */
function searchAccounts({ search, before }: AccountQuery, limit: number): Script<Account[]> {
  const { createdAtMs, id } = before ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
  if (search === null) {
    return select(accountTable)`
      WHERE (created_at_ms, id) < (${createdAtMs}, ${id}) ORDER BY created_at_ms DESC, id DESC LIMIT ${limit}`;
  }
  const pattern = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return select(accountTable)`
    WHERE (created_at_ms, id) < (${createdAtMs}, ${id})
      AND (lower(name) LIKE lower(${pattern}) ESCAPE '\\' OR lower(email) LIKE lower(${pattern}) ESCAPE '\\'
        OR id = ${search})
    ORDER BY created_at_ms DESC, id DESC LIMIT ${limit}`;
}

function* updateAccount(accountId: string, { logo, ...change }: AccountChange): Script<Account | null> {
  yield* lock(`account ${accountId}`);
  const account = yield* selectOne(accountTable)`WHERE id = ${accountId}`;
  if (account === null) return null;
  const logoHash = logo === undefined ? account.logoHash : (logo?.hash ?? null);
  const changed = { ...requireKnownNames(account), ...change, logoHash };
  yield* update(accountTable, changed);
  // Logos are kept apart: an account is read with every request, and its logo is not.
  if (logo !== undefined) yield* run`DELETE FROM shop_logos WHERE account_id = ${accountId}`;
  if (logo) {
    const image = Buffer.from(logo.bytes).toString('base64');
    yield* insert(logoTable, { accountId, hash: logo.hash, type: logo.type, image });
  }
  return changed;
}

function* findLogo(hash: string): Script<ShopLogo | null> {
  const row = yield* selectOne(logoTable)`WHERE hash = ${hash} LIMIT 1`;
  if (row === null) return null;
  return { hash, type: requireName(row.type, isLogoType), bytes: Buffer.from(row.image, 'base64') };
}

/** @throws UnknownStateError for a feature or provider that this version does not know */
export function requireKnownNames(account: Account): Account {
  for (const name of account.features) requireName(name, isFeature);
  const { providers, pinnedProvider, excludedProviders } = account;
  for (const list of [providers, excludedProviders, pinnedProvider === null ? null : [pinnedProvider]])
    for (const name of list ?? []) requireName(name, isProviderId);
  return account;
}

/** The key of a row of an account's columns and the key's limits. */
export function activeKeyOf(
  account: Account,
  scopes: readonly string[],
  callbackHost: string | null,
): ActiveKey {
  return {
    account: requireKnownNames(account),
    scopes: scopes.map((name) => requireName(name, isKeyScope)),
    callbackHost,
  };
}

/** A name that this version does not know is an error, as leaving it out would change rights. */
function requireName<Name extends string>(name: string, isName: (value: string) => value is Name): Name {
  if (!isName(name)) throw new UnknownStateError(`an account names ${name}, which does not exist`);
  return name;
}
