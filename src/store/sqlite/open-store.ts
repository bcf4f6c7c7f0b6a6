import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { ActiveKey } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import { createPrivateFolder } from '../../platform/private-folder.ts';
import { createAccounts } from '../accounts.ts';
import { assembleStore } from '../assemble-store.ts';
import { requireCurrentSchema } from '../migration.ts';
import type { Scripts } from '../scripts.ts';
import type { Store } from '../store.ts';
import { createGroupCommit, createReads } from './group-commit.ts';
import { findSchema, migrate, migrations } from './migrations.ts';
import { lockFile, openDatabase } from './open-database.ts';
import { createPaymentStore, createReleaseClaims } from './payments.ts';
import { createScripts } from './scripts.ts';

export interface SqliteStoreOptions {
  /** Database file; it and its folder are created if missing, readable only by their owner. */
  readonly file: string;
  /** Wall clock, for when a webhook was queued or given up. */
  readonly nowMs?: () => number;
  /** Called with a commit that failed as a whole (disk full, locked); its callers receive the error as well. */
  readonly onError?: (error: Error) => void;
  /**
   * Whether to create or change the schema, which cannot be undone (default true); if false, an older schema is refused
   * unchanged.
   */
  readonly mayMigrate?: boolean;
}

/**
 * Opens or creates the store and updates its schema.
 *
 * @throws StoreInUseError when another process serves the file @throws StoreTooNewError when a newer version has
 * written it @throws StoreOutdatedError when an older version has written it, and it may not be migrated
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, nowMs = Date.now, onError, mayMigrate = true } = options;
  if (!mayMigrate) requireCurrentSchema(findSchema(file));
  createPrivateFolder(dirname(file));
  const { database, close } = openLocked(file);
  try {
    if (mayMigrate) migrate(database, file, migrations, nowMs);
    const writes = createGroupCommit(database, onError);
    const reads = createReads(database);
    const scripts = createScripts(database, writes, reads);
    return assembleStore(scripts, nowMs, {
      accounts: rememberKeys(scripts),
      payments: createPaymentStore(database, writes, reads),
      releaseClaims: createReleaseClaims(database, reads),
      shared: null,
      async close() {
        await Promise.all([writes.close(), reads.close()]);
        await close();
      },
    });
  } catch (error) {
    await close();
    throw error;
  }
}

const MAXIMUM_KEYS = 10_000;

/**
 * Account store that caches the keys of requests. The cache is exact: this process is the only writer, and each
 * relevant change clears it within its transaction. Unknown keys are not cached, so that guesses evict no real key.
 */
function rememberKeys(scripts: Scripts): AccountStore {
  const keys = new LRUCache<string, ActiveKey>({ max: MAXIMUM_KEYS });
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

/**
 * Opens a database exclusively.
 *
 * @throws StoreInUseError when another process, or another store of this one, holds it
 */
export function openLocked(file: string): { database: DatabaseSync; close(): Promise<void> } {
  const unlock = lockFile(file);
  try {
    const database = openDatabase(file);
    return {
      database,
      async close() {
        // Closing rolls back an open transaction.
        database.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}
