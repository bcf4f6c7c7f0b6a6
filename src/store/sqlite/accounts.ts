import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { Account, AccountChange, ApiKey } from '../../domain/account.ts';
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
import type { GroupCommit, GroupRead } from './group-commit.ts';

/** The most keys and accounts that are remembered; beyond it the one remembered longest is read again. */
const MAXIMUM_REMEMBERED = 10_000;

type AccountRow = Omit<
  Account,
  'features' | 'providers' | 'suspended' | 'isWalletLocked' | 'receivesAlerts'
> & {
  /** JSON arrays of text. */
  readonly features: string;
  readonly providers: string | null;
  readonly suspended: number;
  readonly isWalletLocked: number;
  readonly receivesAlerts: number;
};

export function createAccountStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
): AccountStore {
  const insertAccount = database.prepare(
    `INSERT INTO accounts (${changingColumns.join(', ')}, id, created_at_ms)
     VALUES (${changingColumns.map(() => '?').join(', ')}, ?, ?)`,
  );
  const selectAccount = database.prepare(`SELECT ${accountColumns} FROM accounts WHERE id = ?`);
  const selectAccounts = database.prepare(
    `SELECT ${accountColumns} FROM accounts ORDER BY created_at_ms, id`,
  );
  const updateAccount = database.prepare(
    `UPDATE accounts SET ${changingColumns.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`,
  );
  const logos = createLogos(database);
  const selectByHash = database.prepare(
    `SELECT ${accountColumns} FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
     WHERE api_keys.hash = ? AND api_keys.revoked_at_ms IS NULL`,
  );
  /**
   * Exact, because this process is the only writer: whatever may change an answer empties it within its
   * transaction, and no question is answered between that and the commit. Unknown keys are not remembered, so that
   * guesses cannot push real keys out.
   */
  const accountByKeyHash = new LRUCache<string, Account>({ max: MAXIMUM_REMEMBERED });
  /** The same for ids: every view of a checkout asks, and reading an account takes 15 µs. */
  const accountById = new LRUCache<string, Account>({ max: MAXIMUM_REMEMBERED });

  function readAccount(accountId: string): Account | null {
    const row = selectAccount.get(accountId) as unknown as AccountRow | undefined;
    return row === undefined ? null : accountOfRow(row);
  }

  return {
    async createAccount(account) {
      await writes.runStatement(() =>
        insertAccount.run(...changingValues(account), account.id, account.createdAtMs),
      );
    },
    findAccount(accountId) {
      const remembered = accountById.get(accountId);
      if (remembered !== undefined) return remembered;
      return reads.run(() => {
        const account = readAccount(accountId);
        if (account !== null) accountById.set(accountId, account);
        return account;
      });
    },
    listAccounts: () => reads.run(() => (selectAccounts.all() as unknown as AccountRow[]).map(accountOfRow)),
    searchAccounts: createSearch(database, reads),
    findLogo: (hash) => reads.run(() => logos.find(hash)),
    updateAccount: (accountId, change) =>
      writes.runTransaction(() => {
        const account = readAccount(accountId);
        if (account === null) return null;
        const changed = changedAccount(account, change);
        updateAccount.run(...changingValues(changed), accountId);
        logos.write(accountId, change);
        accountByKeyHash.clear();
        accountById.delete(accountId);
        return changed;
      }),
    findAccountByKeyHash(hash) {
      const remembered = accountByKeyHash.get(hash);
      if (remembered !== undefined) return remembered;
      const row = selectByHash.get(hash) as unknown as AccountRow | undefined;
      if (row === undefined) return null;
      const account = accountOfRow(row);
      accountByKeyHash.set(hash, account);
      return account;
    },
    ...createKeys(database, writes, reads, () => accountByKeyHash.clear()),
  };
}

/** A list goes along the index of time; a search looks at every account on its way. */
function createSearch(database: DatabaseSync, reads: GroupRead): AccountStore['searchAccounts'] {
  const select = (condition: string) =>
    database.prepare(
      `SELECT ${accountColumns} FROM accounts WHERE (created_at_ms, id) < (?, ?) ${condition}
       ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
    );
  const selectAll = select('');
  const selectFound = select("AND (name LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\' OR id = ?)");
  return ({ search, before }: AccountQuery, limit) => {
    checkListLimit(limit);
    const from = [before?.createdAtMs ?? Number.MAX_SAFE_INTEGER, before?.id ?? ''];
    const found = searchPattern(search);
    return reads.run(() => {
      const rows =
        found === null
          ? selectAll.all(...from, limit)
          : selectFound.all(...from, found.pattern, found.pattern, found.id, limit);
      return (rows as unknown as AccountRow[]).map(accountOfRow);
    });
  };
}

/** Logos are kept apart: an account is read with every request, and its logo is not. */
function createLogos(database: DatabaseSync) {
  const select = database.prepare('SELECT hash, type, image FROM shop_logos WHERE hash = ? LIMIT 1');
  const remove = database.prepare('DELETE FROM shop_logos WHERE account_id = ?');
  const insert = database.prepare(
    'INSERT INTO shop_logos (account_id, hash, type, image) VALUES (?, ?, ?, ?)',
  );
  return {
    find(hash: string) {
      const row = select.get(hash) as unknown as LogoRow | undefined;
      return row === undefined ? null : logoOfRow(row);
    },
    write(accountId: string, { logo }: AccountChange) {
      if (logo === undefined) return;
      remove.run(accountId);
      if (logo !== null) insert.run(accountId, ...logoValues(logo));
    },
  };
}

function createKeys(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
  forgetAnswers: () => void,
): Pick<AccountStore, 'createKey' | 'listKeys' | 'revokeKey' | 'noteKeyUses'> {
  const countActive = database.prepare(
    'SELECT count(*) AS count FROM api_keys WHERE account_id = ? AND revoked_at_ms IS NULL',
  );
  const insert = database.prepare(
    `INSERT INTO api_keys (id, account_id, name, hash, last_characters, created_at_ms, revoked_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const selectByAccount = database.prepare(
    `SELECT ${keyColumns} FROM api_keys WHERE account_id = ? ORDER BY created_at_ms, id`,
  );
  const noteUses = database.prepare(
    'UPDATE api_keys SET last_used_at_ms = ? WHERE hash IN (SELECT value FROM json_each(?))',
  );
  const revoke = database.prepare(
    `UPDATE api_keys SET revoked_at_ms = coalesce(revoked_at_ms, ?) WHERE id = ? RETURNING ${keyColumns}`,
  );

  return {
    createKey: (key) =>
      writes.runStatement(() => {
        if ((countActive.get(key.accountId)?.count as number) >= MAXIMUM_ACTIVE_KEYS) return false;
        insert.run(
          key.id,
          key.accountId,
          key.name,
          key.hash,
          key.lastCharacters,
          key.createdAtMs,
          key.revokedAtMs,
        );
        return true;
      }),
    listKeys: (accountId) =>
      reads.run(() => (selectByAccount.all(accountId) as unknown as ApiKey[]).map((row) => ({ ...row }))),
    noteKeyUses: (hashes, atMs) =>
      writes.runStatement(() => {
        noteUses.run(atMs, JSON.stringify(hashes));
      }),
    revokeKey: (keyId, revokedAtMs) =>
      writes.runStatement(() => {
        const row = revoke.get(revokedAtMs, keyId) as unknown as ApiKey | undefined;
        forgetAnswers();
        return row === undefined ? null : { ...row };
      }),
  };
}

/** In the order in which `INSERT` and `UPDATE` take them. */
function changingValues(account: Account): (string | number | null)[] {
  return [
    ...profileValues(account),
    account.isWalletLocked ? 1 : 0,
    account.receivesAlerts ? 1 : 0,
    JSON.stringify(account.features),
    account.providers === null ? null : JSON.stringify(account.providers),
    account.suspended ? 1 : 0,
  ];
}

function accountOfRow(row: AccountRow): Account {
  return {
    ...row,
    features: featuresOf(textsOf(row.features)),
    providers: row.providers === null ? null : providersOf(textsOf(row.providers)),
    suspended: row.suspended === 1,
    isWalletLocked: row.isWalletLocked === 1,
    receivesAlerts: row.receivesAlerts === 1,
  };
}

/** A JSON array of text. */
function textsOf(json: string): readonly string[] {
  return JSON.parse(json) as string[];
}
