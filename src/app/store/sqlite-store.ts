import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createCachingAccounts } from '../../store/accounts-and-api-keys.ts';
import { requireCurrentSchema } from '../../store/migration.ts';
import { createPaymentInSqlite } from '../../store/payments.ts';
import { createClaimsInMemory } from '../../store/relay-batches.ts';
import { createGroupCommit, createReads } from '../../store/sqlite/group-commit.ts';
import { findSchema, migrate } from '../../store/sqlite/migrations.ts';
import { openLocked } from '../../store/sqlite/open-database.ts';
import { createScripts } from '../../store/sqlite/scripts.ts';
import { migrations } from '../migrations.ts';
import { assembleStore, type Store, type StoreOptions } from './store.ts';

export interface SqliteStoreOptions extends StoreOptions {
  /** Database file. If missing, it and its folder are created so that only their owner can read them. */
  readonly file: string;
}

const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Opens or creates the store, updating its schema. Throws `StoreInUseError` or errors of `requireCurrentSchema`. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, nowMs = Date.now, onError, mayMigrate = true } = options;
  if (!mayMigrate) requireCurrentSchema(findSchema(file, migrations.SQLite));
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { database, close } = openLocked(file);
  try {
    if (mayMigrate) migrate(database, file, migrations.SQLite, nowMs);
    const writes = createGroupCommit(database, onError);
    const reads = createReads(database);
    const scripts = createScripts(database, writes, reads);
    return assembleStore(scripts, nowMs, {
      accounts: createCachingAccounts(scripts),
      createPayment: scripts.write(createPaymentInSqlite),
      releaseClaims: createClaimsInMemory(scripts),
      readSize: async () => ({ data: bytesOf(file), wal: bytesOf(`${file}-wal`) }),
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
