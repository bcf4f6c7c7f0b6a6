import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { Account, ActiveKey } from '../../domain/account.ts';
import type { AccountStore } from '../../domain/ports/account-store.ts';
import type { ProviderStore } from '../../domain/ports/provider.ts';
import { activeKeyOf, createAccounts, findAccount } from '../accounts.ts';
import { textsOf } from '../columns.ts';
import { readProviderSettings, UNSET_PROVIDER, writeProviderSettings } from '../providers.ts';
import type { Scripts } from '../scripts.ts';
import { accountTable } from '../tables.ts';

/** Accounts and provider settings, which requests read, on SQLite. */

/** The most keys and accounts that are remembered; beyond it the one remembered longest is read again. */
const MAXIMUM_REMEMBERED = 10_000;

export function createAccountStore(database: DatabaseSync, scripts: Scripts): AccountStore {
  const { qualifiedNames } = accountTable;
  const selectByHash = database.prepare(
    `SELECT ${qualifiedNames}, api_keys.scopes, callback_host FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
     WHERE api_keys.hash = ? AND api_keys.revoked_at_ms IS NULL`,
  );
  selectByHash.setReturnArrays(true);
  /**
   * Exact, because this process is the only writer: whatever may change an answer empties it within its
   * transaction, and no question is answered between that and the commit. Unknown keys are not remembered, so that
   * guesses cannot push real keys out.
   */
  const keyByHash = new LRUCache<string, ActiveKey>({ max: MAXIMUM_REMEMBERED });
  /** The same for ids: every view of a checkout asks, and reading an account takes 15 µs. */
  const accountById = new LRUCache<string, Account>({ max: MAXIMUM_REMEMBERED });
  const readAccount = scripts.read(function* (accountId: string) {
    const account = yield* findAccount(accountId);
    if (account !== null) accountById.set(accountId, account);
    return account;
  });

  return {
    ...createAccounts(scripts, (accountId) => {
      keyByHash.clear();
      if (accountId !== null) accountById.delete(accountId);
    }),
    async findAccount(accountId) {
      return accountById.get(accountId) ?? readAccount(accountId);
    },
    peekActiveKey: (hash) => keyByHash.get(hash),
    async findActiveKey(hash) {
      const remembered = keyByHash.get(hash);
      if (remembered !== undefined) return remembered;
      const row = selectByHash.get(hash) as readonly unknown[] | undefined;
      if (row === undefined) return null;
      const key = activeKeyOf(accountTable.ofValues(row), textsOf(row.at(-2)), row.at(-1) as string | null);
      keyByHash.set(hash, key);
      return key;
    },
  };
}

/** Settings are kept in memory: there are few, every create needs one, and this process alone writes them. */
export async function createProviderStore(scripts: Scripts): Promise<ProviderStore> {
  const committed = await scripts.read(readProviderSettings)();
  const write = scripts.writeStatement(writeProviderSettings);
  return {
    readProviderSettings: async (provider) => committed.get(provider) ?? UNSET_PROVIDER,
    async writeProviderSettings(provider, change) {
      committed.set(provider, await write(provider, change));
    },
  };
}
