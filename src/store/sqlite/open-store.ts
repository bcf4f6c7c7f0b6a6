import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
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
import { lockFile } from './file-lock.ts';
import { createGroupCommit } from './group-commit.ts';
import { createGroupRead } from './group-read.ts';
import { createLedgerStore } from './ledger.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations.ts';
import { openMovementBook } from './movements.ts';
import { openDatabase } from './open-database.ts';
import { createPaymentDecider } from './payment-decider.ts';
import { createPaymentStore } from './payments.ts';
import { createProviderStore } from './providers.ts';
import { createRelayStore } from './relay.ts';
import { createScripts } from './scripts.ts';
import { createSettlementStore } from './settlements.ts';
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
      openMovementBook(database, nowMs);
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
  const scripts = createScripts(database, writes, reads);
  const decider = createPaymentDecider(database, nowMs);
  const traits = { isByAccount: false };
  let closed: Promise<void> | null = null;

  async function close(): Promise<void> {
    await Promise.all([writes.close(), reads.close()]);
    database.close();
    unlock();
  }

  return {
    accounts: createAccountStore(database, writes, reads),
    payments: createPaymentStore(database, writes, reads, decider),
    search: {
      ...createPaymentSearch(scripts, traits),
      ...createPaymentIndex(scripts, traits),
      ...createPaymentStory(scripts),
    },
    addressPages: createAddressPageStore(database, writes, reads),
    ledger: createLedgerStore(database, writes, reads, decider, nowMs),
    relay: createRelayStore(database, writes, reads, decider),
    webhooks: createWebhookStore(database, writes, reads, nowMs),
    emails: createEmailStore(scripts, traits),
    receipts: createReceiptStore(scripts),
    troubles: createTroubleStore(scripts),
    providers: createProviderStore(database, writes),
    settlements: createSettlementStore(database, writes),
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
