import { createAccounts } from '../../store/accounts-and-api-keys.ts';
import { requireCurrentSchema } from '../../store/migration.ts';
import { createPaymentInserts } from '../../store/postgres/create-payment.ts';
import { createLeaseStore, createReleaseClaims } from '../../store/postgres/leases.ts';
import { findSchema, migrate } from '../../store/postgres/migrations.ts';
import { openDatabase } from '../../store/postgres/open-database.ts';
import { createScripts } from '../../store/postgres/scripts.ts';
import { createProviderCalls, createSharedRateLimiter } from '../../store/postgres/shared-rate-limits.ts';
import { statement } from '../../store/postgres/statements.ts';
import { migrations } from '../migrations.ts';
import { assembleStore, type Store, type StoreOptions } from './store.ts';

interface PostgresStoreOptions extends StoreOptions {
  /** `postgres://user:password@host:port/database`. The user must be allowed to create tables there. */
  readonly url: string;
  readonly poolSize?: number;
}

const DEFAULT_POOL_SIZE = 10;

const readSize = statement('SELECT pg_database_size(current_database()) AS bytes');

/** Opens a store that many instances can share and updates its schema. Throws the errors of `requireCurrentSchema`. */
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
    createPayment: createPaymentInserts(database, scripts, onError),
    releaseClaims: createReleaseClaims(scripts),
    async readSize() {
      const [row] = await database.repeating.query<{ bytes: number }>(readSize);
      return { data: row?.bytes ?? 0 };
    },
    shared: {
      countCalls: database.countCalls,
      leases: createLeaseStore(database),
      takeProviderCall: createProviderCalls(database),
      createRateLimiter(kind, requestsPerMinute) {
        const created = createSharedRateLimiter(database, kind, requestsPerMinute, onError);
        limiters.push(created);
        return created.limiter;
      },
    },
    async close() {
      // Closes the limiters before the database, because queued requests still need a connection.
      await Promise.all(limiters.map((group) => group.close()));
      await database.close();
    },
  });
}
