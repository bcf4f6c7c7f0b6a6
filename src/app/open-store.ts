import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { createPrivateFolder } from '../platform/private-folder.ts';
import { hasSchema } from '../store/sqlite/migrations.ts';
import { openSqliteStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { StoreInUseError } from '../store/store-errors.ts';
import type { Log } from './log.ts';

/** A command that works on the store without a server holds it for about a second. */
const START_TIMEOUT_MS = 3_000;
const RETRY_MS = 100;
/** The database's name in the data folder. */
export const SQLITE_FILE = 'card-checkout.sqlite';

/** There is no database yet. Only `start` and `init` make one: a command with a wrong DATA_DIR must not. */
export class NoDatabaseError extends Error {
  override readonly name = 'NoDatabaseError';

  constructor(missing: string, variable: string) {
    super(
      `${missing}: check ${variable}, in the environment or in .env, ` +
        'or create one with `card-checkout init`',
    );
  }
}

/** Whether `start` or `init` has made the database. Makes nothing. */
export async function hasDatabase(config: Config): Promise<boolean> {
  if (config.databaseUrl !== null) return (await findPostgresSchema(config.databaseUrl)).isThere;
  return naming('DATA_DIR', async () => hasSchema(join(config.dataDir, SQLITE_FILE)));
}

/** Throws `NoDatabaseError` where neither `start` nor `init` has made a database. */
export async function requireDatabase(config: Config): Promise<void> {
  if (await hasDatabase(config)) return;
  if (config.databaseUrl === null)
    throw new NoDatabaseError(`there is no database in ${resolve(config.dataDir)}`, 'DATA_DIR');
  const { name } = await findPostgresSchema(config.databaseUrl);
  throw new NoDatabaseError(`${name} has no tables of card-checkout`, 'DATABASE_URL');
}

/** Loads the client of PostgreSQL, which a service with SQLite starts without. */
async function findPostgresSchema(databaseUrl: string) {
  const { findSchema } = await import('../store/postgres/migrations.ts');
  return naming('DATABASE_URL', () => findSchema(databaseUrl));
}

/** Runs work on the place that a variable names. What the system says of a failure names only an address or a path. */
async function naming<T>(variable: 'DATA_DIR' | 'DATABASE_URL', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
    throw new Error(`${variable} cannot be used: ${cause.message || String(cause.code)}`, { cause });
  }
}

/**
 * Makes the data folder and the database of the configuration, for the commands that come before the first start. A
 * database that is there already stays as it is.
 */
export async function initDatabase(config: Config, log: Log) {
  const isCreated = !(await hasDatabase(config));
  // It holds more than the database: the control socket and the evidence of providers.
  await naming('DATA_DIR', async () => createPrivateFolder(config.dataDir));
  if (isCreated) await (await openStore(config, log)).close();
  return {
    data_dir: resolve(config.dataDir),
    database: config.databaseUrl === null ? SQLITE_FILE : 'PostgreSQL at DATABASE_URL',
    created: isCreated,
  };
}

/**
 * Opens the store that the configuration names. Throws `StoreInUseError` while another process serves the same
 * SQLite file, `StoreTooNewError` when a newer version has written it.
 */
export async function openStore(config: Config, log: Log): Promise<Store> {
  const { databaseUrl: url } = config;
  if (url !== null) {
    const { openPostgresStore } = await import('../store/postgres/open-store.ts');
    const onError = (error: Error) => log.error({ err: error }, 'a background database operation failed');
    return naming('DATABASE_URL', () => openPostgresStore({ url, onError }));
  }
  const file = join(config.dataDir, SQLITE_FILE);
  const onError = (error: Error) =>
    log.error({ err: error }, 'a commit failed; its callers received the error');
  return naming('DATA_DIR', () => openSqliteStore({ file, onError }));
}

/** The same for a server that starts: it waits a little for a command that is just finishing. */
export function openStoreToServe(config: Config, log: Log): Promise<Store> {
  return retryWhileInUse(START_TIMEOUT_MS, () => openStore(config, log));
}

/** Tries again while another process holds the store, and throws `StoreInUseError` when it does so for too long. */
export async function retryWhileInUse<T>(patienceMs: number, use: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof StoreInUseError) || performance.now() > deadlineMs) throw error;
    }
    await delay(RETRY_MS);
  }
}
