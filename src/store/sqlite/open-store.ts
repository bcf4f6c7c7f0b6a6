import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { ProviderSettings, ProviderStore } from '../../domain/ports/provider.ts';
import type { AddressPageStore } from '../../domain/ports/settlement-store.ts';
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
import { createGroupCommit, createGroupRead, type GroupCommit, type GroupRead } from './group-commit.ts';
import { migrate, migrations } from './migrations.ts';
import { lockFile, openDatabase } from './open-database.ts';
import { createPaymentDecider } from './payment-decider.ts';
import { createPaymentStore } from './payments.ts';
import { createRelayStore } from './relay.ts';
import { createScripts } from './scripts.ts';
import { createWebhookStore } from './webhooks.ts';

/** What the SQLite store needs. */
export interface SqliteStoreOptions {
  /** The database file; it and its folder are made if missing, for the owner's eyes only. */
  readonly file: string;
  /** Wall clock, for when a webhook was queued or given up. */
  readonly nowMs?: () => number;
  /** Told of a commit that failed as a whole (disk full, locked); its callers are told as well. */
  readonly onError?: (error: Error) => void;
}

/**
 * Opens or creates the store and brings its schema up to date.
 *
 * @throws StoreInUseError when another process serves the file
 * @throws StoreTooNewError when a newer version has written it
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, nowMs = Date.now, onError } = options;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unlock = lockFile(file);
  try {
    const database = openDatabase(file);
    try {
      migrate(database, file, migrations, nowMs);
      return createStore(database, nowMs, onError, unlock);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

function createStore(
  database: DatabaseSync,
  nowMs: () => number,
  onError: ((error: Error) => void) | undefined,
  unlock: () => void,
): Store {
  const writes = createGroupCommit(database, onError);
  const reads = createGroupRead(database);
  const decider = createPaymentDecider(database, nowMs);
  const scripts = createScripts(database, writes, reads, decider);
  const traits = { isByAccount: false };
  let closed: Promise<void> | null = null;

  async function close(): Promise<void> {
    await Promise.all([writes.close(), reads.close()]);
    database.close();
    unlock();
  }

  return {
    accounts: createAccountStore(database, reads, scripts),
    payments: {
      ...createPaymentStore(database, writes, reads, decider),
      ...createProviderSessions(scripts, traits),
    },
    search: {
      ...createPaymentSearch(scripts, traits),
      ...createPaymentIndex(scripts, traits),
      ...createPaymentHistory(scripts),
    },
    addressPages: createAddressPageStore(database, writes, reads),
    observations: createObservationStore(scripts, nowMs),
    relay: createRelayStore(database, writes, reads, decider),
    webhooks: createWebhookStore(database, writes, reads, nowMs),
    emails: createEmailStore(scripts, traits),
    receipts: createReceiptStore(scripts),
    alerts: createAlertStore(scripts),
    events: createEventStore(scripts),
    providers: createProviderStore(database, writes),
    settlements: createSettlementStore(scripts),
    people: createPeopleStore(scripts),
    sessions: createSessionStore(scripts),
    audit: createAuditStore(scripts),
    shared: null,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

function createAddressPageStore(
  database: DatabaseSync,
  writes: GroupCommit,
  reads: GroupRead,
): AddressPageStore {
  const insert = database.prepare(
    `INSERT INTO address_pages (after_row, entries, entries_hash) VALUES (?, ?, ?)
     ON CONFLICT (after_row) DO NOTHING`,
  );
  const select = database.prepare(
    `SELECT after_row AS "afterRow", entries, entries_hash AS "entriesHash"
     FROM address_pages WHERE after_row >= ? ORDER BY after_row LIMIT ?`,
  );
  return {
    listAddressPages: (afterRow, limit) =>
      reads.run(() => {
        checkListLimit(limit);
        return (select.all(afterRow, limit) as unknown as StoredAddressPage[]).map(pageOfStored);
      }),
    async keepAddressPage(page) {
      const { afterRow, entries, entriesHash } = storedPageOf(page);
      await writes.runStatement(() => insert.run(afterRow, entries, entriesHash));
    },
  };
}

const UNSET: ProviderSettings = { active: null, minimumUsdCents: null };

interface SettingsRow {
  provider: string;
  active: number | null;
  minimumUsdCents: number | null;
}

/** Settings are kept in memory: there are few, every create needs one, and this process alone writes them. */
function createProviderStore(database: DatabaseSync, writes: GroupCommit): ProviderStore {
  const columns = 'provider, active, minimum_usd_cents AS "minimumUsdCents"';
  const selectAll = database.prepare(`SELECT ${columns} FROM provider_settings`);
  const select = database.prepare(`SELECT ${columns} FROM provider_settings WHERE provider = ?`);
  const upsert = database.prepare(
    `INSERT INTO provider_settings (provider, active, minimum_usd_cents) VALUES (?, ?, ?)
     ON CONFLICT (provider) DO UPDATE SET active = excluded.active, minimum_usd_cents = excluded.minimum_usd_cents`,
  );
  const rows = selectAll.all() as unknown as SettingsRow[];
  const committed = new Map<string, ProviderSettings>(rows.map((row) => [row.provider, settingsOf(row)]));

  /** Merges with the row and not with the memory, which does not know of writes earlier in the same group. */
  function write(provider: ProviderId, change: Partial<ProviderSettings>): ProviderSettings {
    const row = select.get(provider) as unknown as SettingsRow | undefined;
    const changed = { ...(row === undefined ? UNSET : settingsOf(row)), ...change };
    upsert.run(provider, changed.active === null ? null : Number(changed.active), changed.minimumUsdCents);
    return changed;
  }

  return {
    readProviderSettings: (provider) => committed.get(provider) ?? UNSET,
    async writeProviderSettings(provider, change) {
      committed.set(provider, await writes.runStatement(() => write(provider, change)));
    },
  };
}

function settingsOf(row: SettingsRow): ProviderSettings {
  return { active: row.active === null ? null : row.active === 1, minimumUsdCents: row.minimumUsdCents };
}
