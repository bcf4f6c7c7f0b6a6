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
  /** The database file; it and its folder are made if missing, for the owner's eyes only. */
  readonly file: string;
  /** Wall clock, for when a webhook was queued or given up. */
  readonly nowMs?: () => number;
  /** Called with a commit that failed as a whole (disk full, locked); its callers receive the error as well. */
  readonly onError?: (error: Error) => void;
  /** Whether a schema may be made or changed, which cannot be undone (yes); otherwise an older one is refused untouched. */
  readonly mayMigrate?: boolean;
}

/**
 * Opens or creates the store and brings its schema up to date.
 *
 * @throws StoreInUseError when another process serves the file
 * @throws StoreTooNewError when a newer version has written it
 * @throws StoreOutdatedError when an older version has, and it may not be migrated
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

/** Maximum number of keys in memory. */
const MAXIMUM_KEYS = 10_000;

/**
 * Accounts, with the keys of requests in memory. These are exact, because this process is the only writer: whatever may
 * change an answer empties them within its transaction. Unknown keys are not remembered, so that guesses push no real key
 * out.
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
 * Opens a database that no other process may open meanwhile.
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
        // Closing undoes a transaction that is still open.
        database.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}
