import { createAccounts } from '../../store/accounts.ts';
import { requireCurrentSchema } from '../../store/migration.ts';
import { createLeaseStore, createReleaseClaims } from '../../store/postgres/leases.ts';
import { findSchema, migrate } from '../../store/postgres/migrations.ts';
import { openDatabase } from '../../store/postgres/open-database.ts';
import { createPaymentStore } from '../../store/postgres/payments.ts';
import { createScripts } from '../../store/postgres/scripts.ts';
import { createProviderCalls, createSharedRateLimiter } from '../../store/postgres/shared-rate-limits.ts';
import { assembleStore, migrations, type Store } from './store.ts';

interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; the user may create tables in the database. */
  readonly url: string;
  /** Wall clock, for when a webhook was queued or given up. */
  readonly nowMs?: () => number;
  /** Called with errors without a caller, such as a broken idle connection. */
  readonly onError?: (error: Error) => void;
  readonly poolSize?: number;
  /**
   * Whether to create or change the schema, which cannot be undone (default true); if false, an older schema is refused
   * unchanged.
   */
  readonly mayMigrate?: boolean;
}

const DEFAULT_POOL_SIZE = 10;

/**
 * Opens the store and updates its schema. Any number of instances may open it: they share only the database, and cache
 * nothing that another could change. Throws `StoreTooNewError` when a newer version has written it, and
 * `StoreOutdatedError` when an older version has written it, and it may not be migrated.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const {
    url,
    nowMs = Date.now,
    onError = () => {},
    poolSize = DEFAULT_POOL_SIZE,
    mayMigrate = true,
  } = options;
  if (mayMigrate) await migrate(url, migrations.PostgreSQL, nowMs);
  else requireCurrentSchema(await findSchema(url, migrations.PostgreSQL));
  const database = openDatabase(url, poolSize, onError);
  const scripts = createScripts(database);
  const limiters: ReturnType<typeof createSharedRateLimiter>[] = [];
  return assembleStore(scripts, nowMs, {
    accounts: createAccounts(scripts),
    payments: createPaymentStore(database, onError),
    releaseClaims: createReleaseClaims(database),
    shared: {
      leases: createLeaseStore(database),
      takeProviderCall: createProviderCalls(database),
      createRateLimiter(kind, requestsPerMinute) {
        const created = createSharedRateLimiter(database, kind, requestsPerMinute, onError);
        limiters.push(created);
        return created.limiter;
      },
    },
    async close() {
      // Waiting groups still need a connection.
      await Promise.all(limiters.map((group) => group.close()));
      await database.close();
    },
  });
}
