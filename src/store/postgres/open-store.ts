import type { ProviderSettings, ProviderStore } from '../../domain/ports/provider.ts';
import type { AddressPageStore, LeaseStore } from '../../domain/ports/settlement-store.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { pageOfStored, type StoredAddressPage, storedPageOf } from '../address-pages.ts';
import { createAlertStore } from '../alerts.ts';
import { createAuditStore } from '../audit.ts';
import { createEmailStore, createReceiptStore } from '../emails.ts';
import { createEventStore } from '../events.ts';
import { createObservationStore } from '../observations.ts';
import { createPaymentHistory } from '../payment-history.ts';
import { createPaymentIndex } from '../payment-index.ts';
import { createPaymentSearch } from '../payment-search.ts';
import { createPeopleStore } from '../people.ts';
import { createProviderSessions } from '../provider-sessions.ts';
import { createSessionStore } from '../sessions.ts';
import { createSettlementStore } from '../settlements.ts';
import { checkListLimit, type Store } from '../store.ts';
import { createAccountStore } from './accounts.ts';
import { createGroupRead } from './group-read.ts';
import { migrate, migrations } from './migrations.ts';
import { type Database, openDatabase } from './open-database.ts';
import { createPaymentDecider } from './payment-decider.ts';
import { createPaymentStore } from './payments.ts';
import { type ClosableRateLimiter, createSharedRateLimiter } from './rate-windows.ts';
import { createRelayStore } from './relay.ts';
import { createScripts } from './scripts.ts';
import { statement } from './statements.ts';
import { createWebhookStore } from './webhooks.ts';

/** What the PostgreSQL store needs. */
interface PostgresStoreOptions {
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
  return createPostgresStore(database, nowMs, onError);
}

/** The store over a database that has the newest schema; it closes the database with itself. */
export function createPostgresStore(
  database: Database,
  nowMs: () => number,
  onError: (error: Error) => void,
): Store {
  const decider = createPaymentDecider(nowMs);
  const scripts = createScripts(database, decider);
  const traits = { isByAccount: true };
  const accounts = createAccountStore(database, scripts);
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
    payments: { ...payments.store, ...createProviderSessions(scripts, traits) },
    search: {
      ...createPaymentSearch(scripts, traits),
      ...createPaymentIndex(scripts, traits),
      ...createPaymentHistory(scripts),
    },
    addressPages: createAddressPageStore(database),
    observations: createObservationStore(scripts, nowMs),
    relay: createRelayStore(database, decider),
    webhooks: createWebhookStore(database, nowMs),
    emails: createEmailStore(scripts, traits),
    receipts: createReceiptStore(scripts),
    alerts: createAlertStore(scripts),
    events: createEventStore(scripts),
    providers: providers.store,
    settlements: createSettlementStore(scripts),
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

/**
 * A row that ends by itself, and no advisory lock: that would be held by a machine that has dropped off the network
 * until the server notices, which can take hours. The server's clock is the only one that is asked.
 */
const take = statement(`
  INSERT INTO leases AS present (name, holder, ends_at)
  VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
  WHERE present.holder = excluded.holder OR present.ends_at <= clock_timestamp()`);
const release = statement('DELETE FROM leases WHERE name = $1 AND holder = $2');

function createLeaseStore(database: Database): LeaseStore {
  return {
    takeLease: async (name, holder, durationMs) =>
      (await database.execute(take, [name, holder, durationMs])) === 1,
    async releaseLease(name, holder) {
      await database.execute(release, [name, holder]);
    },
  };
}

const insert = statement(`
  INSERT INTO address_pages (after_row, entries, entries_hash) VALUES ($1, $2, $3)
  ON CONFLICT (after_row) DO NOTHING`);
const select = statement(`
  SELECT after_row AS "afterRow", entries, entries_hash AS "entriesHash"
  FROM address_pages WHERE after_row >= $1 ORDER BY after_row LIMIT $2`);

function createAddressPageStore(database: Database): AddressPageStore {
  return {
    async listAddressPages(afterRow, limit) {
      checkListLimit(limit);
      return (await database.query<StoredAddressPage>(select, [afterRow, limit])).map(pageOfStored);
    },
    async keepAddressPage(page) {
      const { afterRow, entries, entriesHash } = storedPageOf(page);
      await database.execute(insert, [afterRow, Buffer.from(entries), entriesHash]);
    },
  };
}

const UNSET: ProviderSettings = { active: null, minimumUsdCents: null };

const selectAll = statement('SELECT provider, active, minimum_usd_cents FROM provider_settings');
/** Changes what it is told to change, and only that, whoever changes something else at the same time. */
const upsertProvider = statement(`
  INSERT INTO provider_settings AS present (provider, active, minimum_usd_cents) VALUES ($1, $2, $3)
  ON CONFLICT (provider) DO UPDATE SET
    active = CASE WHEN $4 THEN excluded.active ELSE present.active END,
    minimum_usd_cents = CASE WHEN $5 THEN excluded.minimum_usd_cents ELSE present.minimum_usd_cents END`);

interface SettingsRow {
  readonly provider: ProviderId;
  readonly active: boolean | null;
  readonly minimum_usd_cents: number | null;
}

/** Provider settings, and how to finish what is under way when the store closes. */
interface ClosableProviderStore {
  readonly store: ProviderStore;
  close(): Promise<void>;
}

/** There are few settings, so all of them are read at once, for all who ask at that time. */
function createProviderStore(database: Database): ClosableProviderStore {
  const settings = createGroupRead<ProviderId, ProviderSettings>(async () => {
    const rows = await database.query<SettingsRow>(selectAll);
    const byProvider = new Map(
      rows.map((row) => [row.provider, { active: row.active, minimumUsdCents: row.minimum_usd_cents }]),
    );
    return (provider) => byProvider.get(provider) ?? UNSET;
  });

  const store: ProviderStore = {
    readProviderSettings: (provider) => settings.read(provider),
    async writeProviderSettings(provider, change) {
      const { active, minimumUsdCents } = change;
      await database.execute(upsertProvider, [
        provider,
        active ?? null,
        minimumUsdCents ?? null,
        active !== undefined,
        minimumUsdCents !== undefined,
      ]);
    },
  };
  return { store, close: () => settings.close() };
}
