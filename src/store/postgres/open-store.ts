import { createAuditStore } from '../audit.ts';
import { createEmailStore } from '../emails.ts';
import { createPaymentIndex } from '../payment-index.ts';
import { createPaymentSearch } from '../payment-search.ts';
import { createPaymentStory } from '../payment-story.ts';
import { createPeopleStore } from '../people.ts';
import { createReceiptStore } from '../receipts.ts';
import { createSessionStore } from '../sessions.ts';
import type { Store } from '../store.ts';
import { createTroubleStore } from '../troubles.ts';
import { createAccountStore } from './accounts.ts';
import { createAddressPageStore } from './address-pages.ts';
import { createLeaseStore } from './leases.ts';
import { createLedgerStore } from './ledger.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations.ts';
import { openMovementBook } from './movements.ts';
import { type Database, openDatabase } from './open-database.ts';
import { createPaymentDecider } from './payment-decider.ts';
import { createPaymentStore } from './payments.ts';
import { createProviderStore } from './providers.ts';
import { type ClosableRateLimiter, createSharedRateLimiter } from './rate-windows.ts';
import { createRelayStore } from './relay.ts';
import { createScripts } from './scripts.ts';
import { createSettlementStore } from './settlements.ts';
import { createWebhookStore } from './webhooks.ts';

/** What the PostgreSQL store needs. */
export interface PostgresStoreOptions {
  /** `postgres://user:password@host:port/database`; the user may create tables in the database. */
  readonly url: string;
  /** Wall clock, for when a webhook was queued or given up. */
  readonly nowMs?: () => number;
  /** Told of what fails without anybody waiting for it: an idle connection that broke off. */
  readonly onError?: (error: Error) => void;
  /** The most connections of this instance. */
  readonly poolSize?: number;
}

const DEFAULT_POOL_SIZE = 10;

/**
 * Opens the store and brings its schema up to date. Any number of instances may have it open; they share nothing
 * else, and none of them remembers what another could change.
 *
 * @throws StoreTooNewError when a newer version has written it
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, nowMs = Date.now, onError = () => {}, poolSize = DEFAULT_POOL_SIZE } = options;
  await migrate(url, migrations, nowMs);
  const database = openDatabase(url, poolSize, onError);
  await openMovementBook(database, nowMs).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  return createPostgresStore(database, nowMs, onError);
}

/** The store over a database that has the newest schema; it closes the database with itself. */
export function createPostgresStore(
  database: Database,
  nowMs: () => number,
  onError: (error: Error) => void,
): Store {
  const scripts = createScripts(database);
  const decider = createPaymentDecider(nowMs);
  const traits = { isByAccount: true };
  const accounts = createAccountStore(database);
  const payments = createPaymentStore(database, decider, onError);
  const providers = createProviderStore(database);
  const limiters: ClosableRateLimiter[] = [];
  let closed: Promise<void> | null = null;

  async function close(): Promise<void> {
    // What waits in a group still needs a connection.
    const groups = [accounts, payments, providers, ...limiters];
    await Promise.all(groups.map((group) => group.close()));
    await database.close();
  }

  return {
    accounts: accounts.store,
    payments: payments.store,
    search: {
      ...createPaymentSearch(scripts, traits),
      ...createPaymentIndex(scripts, traits),
      ...createPaymentStory(scripts),
    },
    addressPages: createAddressPageStore(database),
    ledger: createLedgerStore(database, decider, nowMs),
    relay: createRelayStore(database, decider),
    webhooks: createWebhookStore(database, nowMs),
    emails: createEmailStore(scripts, traits),
    receipts: createReceiptStore(scripts),
    troubles: createTroubleStore(scripts),
    providers: providers.store,
    settlements: createSettlementStore(database),
    people: createPeopleStore(scripts),
    sessions: createSessionStore(scripts),
    audit: createAuditStore(scripts),
    shared: {
      leases: createLeaseStore(database),
      createRateLimiter(kind, requestsPerMinute) {
        const created = createSharedRateLimiter(database, kind, requestsPerMinute, onError);
        limiters.push(created);
        return created.limiter;
      },
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
