import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { openPostgresStore } from '../store/postgres/open-store.ts';
import { openSqliteStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { StoreInUseError } from '../store/store-errors.ts';
import type { Log } from './log.ts';

/** A command that works on the store without a server holds it for about a second. */
const START_PATIENCE_MS = 3_000;
const RETRY_MS = 100;
/** The database's name in the data folder. */
export const SQLITE_FILE = 'card-checkout.sqlite';

/**
 * Opens the store that the configuration names. Throws `StoreInUseError` while another process serves the same
 * SQLite file, `StoreTooNewError` when a newer version has written it.
 */
export function openStore(config: Config, log: Log): Promise<Store> {
  if (config.databaseUrl !== null) {
    return openPostgresStore({
      url: config.databaseUrl,
      onError: (error) => log.error({ err: error }, 'the database failed where nobody waited for it'),
    });
  }
  return openSqliteStore({
    file: join(config.dataDir, SQLITE_FILE),
    onError: (error) => log.error({ err: error }, 'a commit failed; its callers were told'),
  });
}

/** The same for a server that starts: it waits a little for a command that is just finishing. */
export async function openStoreToServe(config: Config, log: Log): Promise<Store> {
  const deadlineMs = performance.now() + START_PATIENCE_MS;
  for (;;) {
    try {
      return await openStore(config, log);
    } catch (error) {
      if (!(error instanceof StoreInUseError) || performance.now() > deadlineMs) throw error;
    }
    await delay(RETRY_MS);
  }
}
