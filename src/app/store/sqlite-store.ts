import { dirname } from 'node:path';
import { createPrivateFolder } from '../../platform/private-folder.ts';
import { createCachingAccounts } from '../../store/accounts.ts';
import { requireCurrentSchema } from '../../store/migration.ts';
import { createGroupCommit, createReads } from '../../store/sqlite/group-commit.ts';
import { findSchema, migrate } from '../../store/sqlite/migrations.ts';
import { openLocked } from '../../store/sqlite/open-database.ts';
import { createPaymentStore, createReleaseClaims } from '../../store/sqlite/payments.ts';
import { createScripts } from '../../store/sqlite/scripts.ts';
import { assembleStore, migrations, type Store } from './store.ts';

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
 * Opens or creates the store and updates its schema. Throws `StoreInUseError` when another process serves the file,
 * `StoreTooNewError` when a newer version has written it, and `StoreOutdatedError` when an older version has written
 * it, and it may not be migrated.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, nowMs = Date.now, onError, mayMigrate = true } = options;
  if (!mayMigrate) requireCurrentSchema(findSchema(file, migrations.SQLite));
  createPrivateFolder(dirname(file));
  const { database, close } = openLocked(file);
  try {
    if (mayMigrate) migrate(database, file, migrations.SQLite, nowMs);
    const writes = createGroupCommit(database, onError);
    const reads = createReads(database);
    const scripts = createScripts(database, writes, reads);
    return assembleStore(scripts, nowMs, {
      accounts: createCachingAccounts(scripts),
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
