import type { ActiveKey } from '../../domain/account.ts';
import type { AccountStore } from '../../domain/ports/account-store.ts';
import type { ProviderSettings, ProviderStore } from '../../domain/ports/provider.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { activeKeyOf, createAccounts, findAccount } from '../accounts.ts';
import { textsOf } from '../columns.ts';
import { readProviderSettings, UNSET_PROVIDER, writeProviderSettings } from '../providers.ts';
import type { Scripts } from '../scripts.ts';
import { accountTable } from '../tables.ts';
import { type Closable, createGroupRead } from './group-read.ts';
import type { Database } from './open-database.ts';
import { arrayStatement } from './statements.ts';

const { qualifiedNames } = accountTable;
const selectByHash = arrayStatement(`
  SELECT ${qualifiedNames}, scopes, callback_host, hash FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE hash = ANY($1::text[]) AND revoked_at_ms IS NULL`);

/** Accounts and provider settings, which requests read, on PostgreSQL. */

export function createAccountStore(database: Database, scripts: Scripts): Closable<AccountStore> {
  const byKeyHash = createGroupRead<string, ActiveKey | null>(async (hashes) => {
    const rows = await database.query<unknown[]>(selectByHash, [hashes]);
    const byHash = new Map(rows.map((row) => [row.at(-1), row]));
    return (hash) => {
      const row = byHash.get(hash);
      if (row === undefined) return null;
      return activeKeyOf(accountTable.ofValues(row), textsOf(row.at(-3)), row.at(-2) as string | null);
    };
  });

  const store: AccountStore = {
    ...createAccounts(scripts),
    findAccount: scripts.read(findAccount),
    // Never in memory: another process may change it.
    peekActiveKey: () => undefined,
    findActiveKey: async (hash) => byKeyHash.read(hash),
  };
  return { store, close: () => byKeyHash.close() };
}

/** There are few settings, so all of them are read at once, for all who ask at that time. */
export function createProviderStore(scripts: Scripts): Closable<ProviderStore> {
  const readAll = scripts.read(readProviderSettings);
  const settings = createGroupRead<ProviderId, ProviderSettings>(async () => {
    const byProvider = await readAll();
    return (provider) => byProvider.get(provider) ?? UNSET_PROVIDER;
  });
  const store: ProviderStore = {
    readProviderSettings: (provider) => settings.read(provider),
    writeProviderSettings: scripts.writeStatement(function* (provider, change) {
      yield* writeProviderSettings(provider, change);
    }),
  };
  return { store, close: () => settings.close() };
}
