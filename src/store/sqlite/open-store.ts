import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { createAddressPageStore } from '../address-pages.ts';
import { createAlertStore } from '../alerts.ts';
import { createAuditStore } from '../audit.ts';
import { createEmailStore, createReceiptStore } from '../emails.ts';
import { createEventStore } from '../events.ts';
import { createObservationStore } from '../observations.ts';
import { createPaymentHistory } from '../payment-history.ts';
import { createPaymentIndex } from '../payment-index.ts';
import { createPaymentSearch } from '../payment-search.ts';
import { createPeopleStore } from '../people.ts';
import { createProviderSessions } from '../providers.ts';
import { createRelayBatches } from '../relay-batches.ts';
import { createSessionStore } from '../sessions.ts';
import { createSettlementStore } from '../settlements.ts';
import type { Store } from '../store.ts';
import { createVisitStore } from '../visits.ts';
import { createWebhookStore } from '../webhooks.ts';
import { createGroupCommit, createGroupRead } from './group-commit.ts';
import { migrate, migrations } from './migrations.ts';
import { lockFile, openDatabase } from './open-database.ts';
import { createPaymentDecider } from './payment-decider.ts';
import { createPaymentStore } from './payments.ts';
import { createReleaseClaims } from './release-claims.ts';
import { createAccountStore, createProviderStore } from './request-reads.ts';
import { createScripts } from './scripts.ts';

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
      return await createStore(database, nowMs, onError, unlock);
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

async function createStore(
  database: DatabaseSync,
  nowMs: () => number,
  onError: ((error: Error) => void) | undefined,
  unlock: () => void,
): Promise<Store> {
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
    addressPages: createAddressPageStore(scripts),
    observations: createObservationStore(scripts, nowMs),
    relay: { ...createRelayBatches(scripts), ...createReleaseClaims(database, reads) },
    webhooks: createWebhookStore(scripts, traits, nowMs),
    emails: createEmailStore(scripts, traits),
    receipts: createReceiptStore(scripts),
    alerts: createAlertStore(scripts),
    events: createEventStore(scripts),
    providers: await createProviderStore(scripts),
    settlements: createSettlementStore(scripts),
    people: createPeopleStore(scripts),
    sessions: createSessionStore(scripts),
    audit: createAuditStore(scripts),
    visits: createVisitStore(scripts, traits),
    shared: null,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
