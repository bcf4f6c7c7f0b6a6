import type { ActiveKey } from '../../domain/account.ts';
import type { AccountStore } from '../../domain/ports/account-store.ts';
import type { ProviderSettings, ProviderStore } from '../../domain/ports/provider.ts';
import type { ProviderId } from '../../domain/provider-catalog.ts';
import { activeKeyOf, createAccounts, findAccount } from '../accounts.ts';
import { assembleStore } from '../assemble-store.ts';
import { textsOf } from '../columns.ts';
import { requireCurrentSchema } from '../migration.ts';
import { readProviderSettings, UNSET_PROVIDER, writeProviderSettings } from '../providers.ts';
import type { Scripts } from '../scripts.ts';
import type { Store } from '../store.ts';
import { accountTable } from '../tables.ts';
import { type Closable, createGroupRead } from './group-read.ts';
import { createLeaseStore, createReleaseClaims } from './leases.ts';
import { findSchema, migrate, migrations } from './migrations.ts';
import { type Database, openDatabase } from './open-database.ts';
import { createPaymentStore } from './payments.ts';
import { createScripts } from './scripts.ts';
import { createSharedRateLimiter } from './shared-rate-limits.ts';
import { arrayStatement } from './statements.ts';

interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; the user may create tables in the database. */
  readonly url: string;
  /** Wall clock, for when a webhook was queued or given up. */
  readonly nowMs?: () => number;
  /** Called with what fails while no caller waits for it: an idle connection that broke off. */
  readonly onError?: (error: Error) => void;
  /** The most connections of this instance. */
  readonly poolSize?: number;
  /** Whether a schema may be made or changed, which cannot be undone (yes); otherwise an older one is refused untouched. */
  readonly mayMigrate?: boolean;
}

const DEFAULT_POOL_SIZE = 10;

/**
 * Opens the store and brings its schema up to date. Any number of instances may have it open; they share nothing
 * else, and none of them remembers what another could change.
 *
 * @throws StoreTooNewError when a newer version has written it
 * @throws StoreOutdatedError when an older version has, and it may not be migrated
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const {
    url,
    nowMs = Date.now,
    onError = () => {},
    poolSize = DEFAULT_POOL_SIZE,
    mayMigrate = true,
  } = options;
  if (mayMigrate) await migrate(url, migrations, nowMs);
  else requireCurrentSchema(await findSchema(url));
  const database = openDatabase(url, poolSize, onError);
  return createPostgresStore(database, nowMs, onError);
}

/** The store over a database that has the newest schema; it closes the database with itself. */
export function createPostgresStore(
  database: Database,
  nowMs: () => number,
  onError: (error: Error) => void,
): Store {
  const scripts = createScripts(database, nowMs);
  const accounts = createAccountStore(database, scripts);
  const payments = createPaymentStore(database, onError);
  const providers = createProviderStore(scripts);
  const limiters: ReturnType<typeof createSharedRateLimiter>[] = [];
  return assembleStore(scripts, nowMs, {
    accounts: accounts.store,
    payments: payments.store,
    providers: providers.store,
    releaseClaims: createReleaseClaims(database),
    shared: {
      leases: createLeaseStore(database),
      createRateLimiter(kind, requestsPerMinute) {
        const created = createSharedRateLimiter(database, kind, requestsPerMinute, onError);
        limiters.push(created);
        return created.limiter;
      },
    },
    async close() {
      // What waits in a group still needs a connection.
      await Promise.all([accounts, payments, providers, ...limiters].map((group) => group.close()));
      await database.close();
    },
  });
}

const { qualifiedNames } = accountTable;
const selectByHash = arrayStatement(`
  SELECT ${qualifiedNames}, scopes, callback_host, hash FROM api_keys JOIN accounts ON accounts.id = api_keys.account_id
  WHERE hash = ANY($1::text[]) AND revoked_at_ms IS NULL`);

function createAccountStore(database: Database, scripts: Scripts): Closable<AccountStore> {
  const byKeyHash = createGroupRead<string, ActiveKey | null>(async (hashes) => {
    const rows = await database.repeating.query<unknown[]>(selectByHash, [hashes]);
    const byHash = new Map(rows.map((row) => [row.at(-1), row]));
    return (hash) => {
      const row = byHash.get(hash);
      if (row === undefined) return null;
      return activeKeyOf(accountTable.ofValues(row), textsOf(row.at(-3)), row.at(-2) as string | null);
    };
  });

  const store: AccountStore = {
    ...createAccounts(scripts),
    findAccount: scripts.read(findAccount),
    // Never in memory: another process may change it.
    peekActiveKey: () => undefined,
    findActiveKey: async (hash) => byKeyHash.read(hash),
  };
  return { store, close: () => byKeyHash.close() };
}

/** There are few settings, so all of them are read at once, for all who ask at that time. */
function createProviderStore(scripts: Scripts): Closable<ProviderStore> {
  const readAll = scripts.read(readProviderSettings);
  const settings = createGroupRead<ProviderId, ProviderSettings>(async () => {
    const byProvider = await readAll();
    return (provider) => byProvider.get(provider) ?? UNSET_PROVIDER;
  });
  const store: ProviderStore = {
    readProviderSettings: (provider) => settings.read(provider),
    writeProviderSettings: scripts.writeStatement(function* (provider, change) {
      yield* writeProviderSettings(provider, change);
    }),
  };
  return { store, close: () => settings.close() };
}
