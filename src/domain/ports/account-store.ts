import type { Account, AccountChange, ApiKey } from '../account.ts';
import type { ShopLogo } from '../shop-logo.ts';

/** Which accounts a list is of. */
export interface AccountQuery {
  /** A part of the name or of the e-mail address, or the whole id; upper case is not told from lower, at least in Latin letters. Null for all. */
  readonly search: string | null;
  /** Those created before this one; null from the newest on. */
  readonly before: Pick<Account, 'id' | 'createdAtMs'> | null;
}

/** Accounts and their API keys. */
export interface AccountStore {
  createAccount(account: Account): Promise<void>;
  /** Synchronous where it is at hand, under the terms of `findAccountByKeyHash`. */
  findAccount(accountId: string): Account | null | Promise<Account | null>;
  listAccounts(): Promise<readonly Account[]>;
  /** The newest first. */
  searchAccounts(query: AccountQuery, limit: number): Promise<readonly Account[]>;
  /** Null when there is no such account. */
  updateAccount(accountId: string, change: AccountChange): Promise<Account | null>;
  /** A logo that an account shows now, by its hash; null for any other. */
  findLogo(hash: string): Promise<ShopLogo | null>;

  /** False when the account already has its ten active keys; decided within the transaction, so races are safe. */
  createKey(key: ApiKey): Promise<boolean>;
  listKeys(accountId: string): Promise<readonly ApiKey[]>;
  /** Revokes at once; null when there is no such key. Revoking twice keeps the first time. */
  revokeKey(keyId: string, revokedAtMs: number): Promise<ApiKey | null>;
  /** Writes down when keys, named by their SHA-256, were last used. */
  noteKeyUses(hashes: readonly string[], atMs: number): Promise<void>;
  /**
   * The account of an active key by the key's SHA-256, or null. On the hot path: an implementation may keep it in
   * memory so long as a change of key or account takes effect with the next call. Synchronous where it can be.
   */
  findAccountByKeyHash(hash: string): Account | null | Promise<Account | null>;
}
