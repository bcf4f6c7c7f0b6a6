import type { Account } from '../../domain/account.ts';
import type { AccountStore } from '../../domain/ports/account-store.ts';
import { createAccounts, requireKnownNames } from '../accounts.ts';
import type { Scripts } from '../scripts.ts';
import { accountTable } from '../tables.ts';
import { createGroupRead } from './group-read.ts';
import type { Database } from './open-database.ts';
import { arrayStatement } from './statements.ts';

const { qualifiedNames } = accountTable;
const selectById = arrayStatement(`SELECT ${qualifiedNames} FROM accounts WHERE id = $1`);
const selectByHash = arrayStatement(`
  SELECT ${qualifiedNames}, hash FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE hash = ANY($1::text[]) AND revoked_at_ms IS NULL`);

/** Accounts and keys, and how to finish what is under way when the store closes. */
export interface ClosableAccountStore {
  readonly store: AccountStore;
  close(): Promise<void>;
}

export function createAccountStore(database: Database, scripts: Scripts): ClosableAccountStore {
  const byKeyHash = createGroupRead<string, Account | null>(async (hashes) => {
    const rows = await database.query<unknown[]>(selectByHash, [hashes]);
    const byHash = new Map(rows.map((row) => [row.at(-1), row]));
    return (hash) => accountOrNull(byHash.get(hash));
  });

  const store: AccountStore = {
    ...createAccounts(scripts),
    async findAccount(accountId) {
      const [row] = await database.query<unknown[]>(selectById, [accountId]);
      return accountOrNull(row);
    },
    findAccountByKeyHash: (hash) => byKeyHash.read(hash),
  };
  return { store, close: () => byKeyHash.close() };
}

function accountOrNull(row: unknown[] | undefined): Account | null {
  return row === undefined ? null : requireKnownNames(accountTable.ofValues(row));
}
