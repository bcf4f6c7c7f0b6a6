import { LRUCache } from 'lru-cache';
import type { Account, ActiveKey } from '../accounts/account.ts';
import type { AccountQuery, AccountStore, RecordStore } from '../accounts/account-store.ts';
import type { KeyScope } from '../accounts/api-key.ts';
import { textsOf } from './columns.ts';
import { countOf, lock, raw, run, type Script, type Scripts, sql } from './scripts.ts';
import { accountRecordTable, accountTable, keyTable, logoTable } from './tables.ts';

/** @param noteChange called in each transaction that changes an account or revokes a key */
export function createAccounts({ read, write }: Scripts, noteChange: () => void = () => {}): AccountStore {
  return {
    createAccount: write(function* (account) {
      yield* accountTable.insert(account);
    }),
    findAccount: read(findAccount),
    findActiveKey: read(findActiveKey),
    listAccounts: read(() => accountTable.select`ORDER BY created_at_ms, id`),
    searchAccounts: read(searchAccounts),
    updateAccount: write(function* (accountId, change) {
      const changed = yield* updateAccount(accountId, change);
      noteChange();
      return changed;
    }),
    findLogo: read(function* (hash) {
      const row = yield* logoTable.selectOne`WHERE hash = ${hash} LIMIT 1`;
      if (row === null) return null;
      return { hash, bytes: Buffer.from(row.image, 'base64') };
    }),
    createKey: write(function* (key, maximumActive) {
      // Serializes creations across instances, so that they cannot exceed the maximum.
      yield* lock(`keys of ${key.accountId}`);
      const active = yield* countOf`api_keys WHERE account_id = ${key.accountId} AND revoked_at_ms IS NULL`;
      if (active >= maximumActive) return false;
      yield* keyTable.insert(key);
      return true;
    }),
    listKeys: read(
      (accountId) => keyTable.select`WHERE account_id = ${accountId} ORDER BY created_at_ms, id`,
    ),
    recordKeyUses: write(function* (hashes, atMs) {
      // Prevents a deadlock between two instances that update the same keys in different orders.
      yield* lock('uses of keys');
      yield* run`UPDATE api_keys SET last_used_at_ms = ${atMs} WHERE hash = ANY(${hashes})`;
    }),
    revokeKey: write(function* (keyId, revokedAtMs) {
      const [revoked] = yield* run`
        UPDATE api_keys SET revoked_at_ms = coalesce(revoked_at_ms, ${revokedAtMs}) WHERE id = ${keyId}
        RETURNING ${raw(keyTable.names)}`;
      noteChange();
      return revoked === undefined ? null : keyTable.ofRow(revoked);
    }),
  };
}

const KEYS_IN_MEMORY = 10_000;

/** Caches active keys, because no other process writes. Does not cache unknown keys, which could evict active keys. */
export function createCachingAccounts(scripts: Scripts): AccountStore {
  const keys = new LRUCache<string, ActiveKey>({ max: KEYS_IN_MEMORY });
  const accounts = createAccounts(scripts, () => keys.clear());
  return {
    ...accounts,
    async findActiveKey(hash) {
      const key = keys.get(hash) ?? (await accounts.findActiveKey(hash));
      if (key !== null) keys.set(hash, key);
      return key;
    },
  };
}

function findAccount(accountId: string): Script<Account | null> {
  return accountTable.selectOne`WHERE id = ${accountId}`;
}

/** Lists or searches accounts, newest first. A list uses the time index, but a search reads every account. */
function searchAccounts({ search, before }: AccountQuery, limit: number): Script<Account[]> {
  const { createdAtMs, id } = before ?? { createdAtMs: Number.MAX_SAFE_INTEGER, id: '' };
  const pattern = `%${(search ?? '').replaceAll(/[\\%_]/g, '\\$&')}%`;
  const isMatch = sql`AND (lower(name) LIKE lower(${pattern}) ESCAPE '\\'
    OR lower(email) LIKE lower(${pattern}) ESCAPE '\\' OR id = ${search})`;
  return accountTable.select`
    WHERE (created_at_ms, id) < (${createdAtMs}, ${id}) ${search === null ? raw('') : isMatch}
    ORDER BY created_at_ms DESC, id DESC LIMIT ${limit}`;
}

function* updateAccount(
  accountId: string,
  given: Parameters<AccountStore['updateAccount']>[1],
): Script<Account | null> {
  yield* lock(`account ${accountId}`);
  const account = yield* findAccount(accountId);
  if (account === null) return null;
  const { logo, ...change } = typeof given === 'function' ? given(account) : given;
  const logoHash = logo === undefined ? account.logoHash : (logo?.hash ?? null);
  const changed = { ...account, ...change, logoHash };
  yield* accountTable.update(changed);
  // Logos have a separate table, because every request reads its account.
  if (logo !== undefined) yield* run`DELETE FROM shop_logos WHERE account_id = ${accountId}`;
  if (logo) {
    yield* logoTable.insert({
      accountId,
      hash: logo.hash,
      image: Buffer.from(logo.bytes).toString('base64'),
    });
  }
  return changed;
}

function* findActiveKey(hash: string): Script<ActiveKey | null> {
  const [row] = yield* run`
    SELECT ${raw(accountTable.qualifiedNames)}, scopes, callback_host
    FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
    WHERE hash = ${hash} AND revoked_at_ms IS NULL`;
  if (row === undefined) return null;
  return {
    account: accountTable.ofRow(row),
    scopes: textsOf(row['scopes']) as readonly KeyScope[],
    callbackHost: row['callback_host'] as string | null,
  };
}

const LISTED_RECORDS = 1_000;

export function createRecordStore({ read, write }: Scripts): RecordStore {
  return {
    addRecords: write(function* (records) {
      for (const record of records) yield* accountRecordTable.insert(record, 'ON CONFLICT DO NOTHING');
    }),
    replaceRecord: write(function* (record) {
      const { accountId, kind, name } = record;
      yield* run`DELETE FROM account_records
        WHERE account_id = ${accountId} AND kind = ${kind} AND name = ${name}`;
      yield* accountRecordTable.insert(record);
    }),
    listRecords: read(function* (accountId, kind, names) {
      const named = names === undefined ? raw('') : sql`AND name = ANY(${names})`;
      return yield* accountRecordTable.select`
        WHERE account_id = ${accountId} AND kind = ${kind} ${named}
        ORDER BY at_ms DESC, name LIMIT ${LISTED_RECORDS}`;
    }),
  };
}
