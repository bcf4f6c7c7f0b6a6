import type { Account, ApiKey } from '../../domain/account.ts';
import { MAXIMUM_ACTIVE_KEYS } from '../../domain/api-key.ts';
import type { AccountQuery, AccountStore } from '../../domain/ports/account-store.ts';
import {
  accountColumns,
  changedAccount,
  changingColumns,
  featuresOf,
  keyColumns,
  type LogoRow,
  logoOfRow,
  logoValues,
  profileValues,
  providersOf,
  searchPattern,
} from '../account-rows.ts';
import { checkListLimit } from '../store.ts';
import { createGroupRead } from './group-read.ts';
import type { Database } from './open-database.ts';
import { statement } from './statements.ts';

const count = changingColumns.length;
const insertAccount = statement(`
  INSERT INTO accounts (${changingColumns.join(', ')}, id, created_at_ms)
  VALUES (${changingColumns.map((_, index) => `$${index + 1}`).join(', ')}, $${count + 1}, $${count + 2})`);
const selectAccount = statement(`SELECT ${accountColumns} FROM accounts WHERE id = $1`);
const selectAccounts = statement(`SELECT ${accountColumns} FROM accounts ORDER BY created_at_ms, id`);
const selectPage = (condition: string) =>
  statement(`SELECT ${accountColumns} FROM accounts WHERE (created_at_ms, id) < ($1, $2) ${condition}
  ORDER BY created_at_ms DESC, id DESC LIMIT $3`);
const selectNewest = selectPage('');
const selectFound = selectPage("AND (name ILIKE $4 ESCAPE '\\' OR email ILIKE $4 ESCAPE '\\' OR id = $5)");
const lockAccount = statement(`SELECT ${accountColumns} FROM accounts WHERE id = $1 FOR NO KEY UPDATE`);
const updateAccount = statement(`
  UPDATE accounts SET ${changingColumns.map((name, index) => `${name} = $${index + 1}`).join(', ')}
  WHERE id = $${count + 1}`);
const selectByHash = statement(`
  SELECT hash, ${accountColumns} FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE hash = ANY($1::text[]) AND revoked_at_ms IS NULL`);

const selectLogo = statement('SELECT hash, type, image FROM shop_logos WHERE hash = $1 LIMIT 1');
const deleteLogo = statement('DELETE FROM shop_logos WHERE account_id = $1');
const insertLogo = statement(
  'INSERT INTO shop_logos (account_id, hash, type, image) VALUES ($1, $2, $3, $4)',
);

const countActiveKeys = statement(
  'SELECT count(*) AS count FROM api_keys WHERE account_id = $1 AND revoked_at_ms IS NULL',
);
const insertKey = statement(`
  INSERT INTO api_keys (id, account_id, name, hash, last_characters, created_at_ms, revoked_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`);
const selectKeys = statement(
  `SELECT ${keyColumns} FROM api_keys WHERE account_id = $1 ORDER BY created_at_ms, id`,
);
/** In one order, so that two instances do not wait for each other. */
const noteUses = statement(`
  UPDATE api_keys SET last_used_at_ms = $1
  WHERE id IN (SELECT id FROM api_keys WHERE hash = ANY($2::text[]) ORDER BY id FOR NO KEY UPDATE)`);
const revokeKey = statement(
  `UPDATE api_keys SET revoked_at_ms = coalesce(revoked_at_ms, $1) WHERE id = $2 RETURNING ${keyColumns}`,
);

type AccountRow = Omit<Account, 'features' | 'providers'> & {
  readonly features: readonly string[];
  readonly providers: readonly string[] | null;
};

/** Accounts and keys, and how to finish what is under way when the store closes. */
export interface ClosableAccountStore {
  readonly store: AccountStore;
  close(): Promise<void>;
}

export function createAccountStore(database: Database): ClosableAccountStore {
  const byKeyHash = createGroupRead<string, Account | null>(async (hashes) => {
    const rows = await database.query<AccountRow & { hash: string }>(selectByHash, [hashes]);
    const byHash = new Map(rows.map(({ hash, ...row }) => [hash, row]));
    return (hash) => accountOrNull(byHash.get(hash));
  });

  const store: AccountStore = {
    async createAccount(account) {
      await database.execute(insertAccount, [...changingValues(account), account.id, account.createdAtMs]);
    },
    async findAccount(accountId) {
      const [row] = await database.query<AccountRow>(selectAccount, [accountId]);
      return accountOrNull(row);
    },
    listAccounts: async () => (await database.query<AccountRow>(selectAccounts)).map(accountOfRow),
    async searchAccounts({ search, before }: AccountQuery, limit) {
      checkListLimit(limit);
      const from = [before?.createdAtMs ?? Number.MAX_SAFE_INTEGER, before?.id ?? '', limit];
      const found = searchPattern(search);
      const rows =
        found === null
          ? await database.query<AccountRow>(selectNewest, from)
          : await database.query<AccountRow>(selectFound, [...from, found.pattern, found.id]);
      return rows.map(accountOfRow);
    },
    updateAccount: (accountId, change) =>
      database.transaction(async (connection) => {
        const [row] = await connection.query<AccountRow>(lockAccount, [accountId]);
        if (row === undefined) return null;
        const changed = changedAccount(accountOfRow(row), change);
        await connection.execute(updateAccount, [...changingValues(changed), accountId]);
        if (change.logo !== undefined) await connection.execute(deleteLogo, [accountId]);
        if (change.logo) await connection.execute(insertLogo, [accountId, ...logoValues(change.logo)]);
        return changed;
      }),
    async findLogo(hash) {
      const [row] = await database.query<LogoRow>(selectLogo, [hash]);
      return row === undefined ? null : logoOfRow(row);
    },
    findAccountByKeyHash: (hash) => byKeyHash.read(hash),
    ...createKeys(database),
  };
  return { store, close: () => byKeyHash.close() };
}

function createKeys(
  database: Database,
): Pick<AccountStore, 'createKey' | 'listKeys' | 'revokeKey' | 'noteKeyUses'> {
  return {
    createKey: (key) =>
      database.transaction(async (connection) => {
        // Whoever makes keys of the same account at the same time, here or elsewhere, waits for this one.
        await connection.execute(lockAccount, [key.accountId]);
        const [active] = await connection.query<{ count: number }>(countActiveKeys, [key.accountId]);
        if ((active?.count ?? 0) >= MAXIMUM_ACTIVE_KEYS) return false;
        await connection.execute(insertKey, [
          key.id,
          key.accountId,
          key.name,
          key.hash,
          key.lastCharacters,
          key.createdAtMs,
          key.revokedAtMs,
        ]);
        return true;
      }),
    listKeys: (accountId) => database.query<ApiKey>(selectKeys, [accountId]),
    async noteKeyUses(hashes, atMs) {
      await database.execute(noteUses, [atMs, hashes]);
    },
    async revokeKey(keyId, revokedAtMs) {
      const [row] = await database.query<ApiKey>(revokeKey, [revokedAtMs, keyId]);
      return row ?? null;
    },
  };
}

/** In the order in which `INSERT` and `UPDATE` take them. */
function changingValues(account: Account): unknown[] {
  return [
    ...profileValues(account),
    account.isWalletLocked,
    account.receivesAlerts,
    account.features,
    account.providers,
    account.suspended,
  ];
}

function accountOrNull(row: AccountRow | undefined): Account | null {
  return row === undefined ? null : accountOfRow(row);
}

function accountOfRow(row: AccountRow): Account {
  return {
    ...row,
    features: featuresOf(row.features),
    providers: row.providers === null ? null : providersOf(row.providers),
  };
}
