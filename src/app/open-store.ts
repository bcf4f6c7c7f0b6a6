import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { machineFaultOf } from '../platform/machine-fault.ts';
import { type FoundSchema, requireNoNewerSchema } from '../store/migration.ts';
import { findSchema as findSqliteSchema } from '../store/sqlite/migrations.ts';
import { StoreInUseError } from '../store/store-errors.ts';
import { createLog, type Log } from './log.ts';
import { migrations } from './migrations.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import type { Store } from './store/store.ts';

/** Maximum wait for the store, which commands without a server hold for about a second. */
const START_TIMEOUT_MS = 3_000;
const RETRY_MS = 100;
export const SQLITE_FILE = 'card-checkout.sqlite';

/** Returns the error for a missing database. Only `start` and `init` create one, because DATA_DIR may be wrong. */
function noDatabase(missing: string, variable: string): Error {
  const wayOut = `check ${variable}, in the environment or in .env, or create one with \`card-checkout init\``;
  return new Error(`${missing}: ${wayOut}`);
}

/** Reads the schema of the configured database without changing anything. */
async function findSchema({ databaseUrl, dataDir }: Config): Promise<FoundSchema> {
  if (databaseUrl === null) {
    return naming('DATA_DIR', async () => findSqliteSchema(join(dataDir, SQLITE_FILE), migrations.SQLite));
  }
  // Loaded on demand, so that a service with SQLite starts without the PostgreSQL client.
  const { findSchema: findPostgresSchema } = await import('../store/postgres/migrations.ts');
  return naming('DATABASE_URL', () => findPostgresSchema(databaseUrl, migrations.PostgreSQL));
}

/** Reads the schema of an existing database. Throws if there is none. */
export async function requireDatabase(config: Config): Promise<FoundSchema> {
  const found = await findSchema(config);
  if (found.number > 0) return found;
  if (config.databaseUrl === null)
    throw noDatabase(`there is no database in ${resolve(config.dataDir)}`, 'DATA_DIR');
  throw noDatabase(`${found.name} has no tables of card-checkout`, 'DATABASE_URL');
}

/** Reads the schema of an existing database. Throws if there is none, or `StoreTooNewError` for a newer schema. */
export async function requireKnownSchema(config: Config): Promise<FoundSchema> {
  const found = await requireDatabase(config);
  requireNoNewerSchema(found);
  return found;
}

/** Adds the variable's name to system errors, because they name only an address or a path. */
async function naming<T>(variable: 'DATA_DIR' | 'DATABASE_URL', work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause)) throw cause;
    const fault = machineFaultOf(cause);
    if (fault !== null) throw new Error(`the database of ${variable} was not reached: ${fault}`, { cause });
    throw new Error(`${variable} cannot be used: ${cause.message || String(cause.code)}`, { cause });
  }
}

/** Describes the pending migrations in one sentence; null if there are none. */
export function describeMigration({ name, number, known, pending }: FoundSchema): string | null {
  if (pending.length === 0) return null;
  const steps = pending.map((each) => `${each.number} (${each.name})`).join(', ');
  if (number === 0) return `${name}: the tables are made, with schema ${known}`;
  const [oldest] = pending
    .map(({ oldestVersion }) => oldestVersion)
    .sort((one, other) => other.localeCompare(one, 'en', { numeric: true }));
  return `${name} is migrated from schema ${number} to ${known}: ${steps}. Versions from ${oldest} on run on it`;
}

function presentMigrations({ pending }: FoundSchema) {
  return pending.map(({ number, name, oldestVersion, lock }) => ({
    number,
    name,
    oldest_version: oldestVersion,
    lock,
  }));
}

/** Function that receives a sentence about a change to a database before the change. */
type Announce = (sentence: string) => void;

async function migrateStore(config: Config, found: FoundSchema, announce: Announce) {
  requireNoNewerSchema(found);
  const sentence = describeMigration(found);
  if (sentence === null) return;
  announce(sentence);
  await (await openStoreToServe(config, createLog('error'))).close();
}

/** Creates the configured data folder and database, or migrates an older database. */
export async function initDatabase(config: Config, announce: Announce = () => {}) {
  const found = await findSchema(config);
  // Creates the folder even with PostgreSQL, because it holds the control socket and the evidence of providers.
  await naming('DATA_DIR', async () => void mkdirSync(config.dataDir, { recursive: true, mode: 0o700 }));
  await migrateStore(config, found, announce);
  return {
    data_dir: resolve(config.dataDir),
    database: config.databaseUrl === null ? SQLITE_FILE : 'PostgreSQL at DATABASE_URL',
    created: found.number === 0,
    ...(found.number > 0 && found.pending.length > 0 ? { migrations: presentMigrations(found) } : {}),
  };
}

/**
 * Migrates the database, or only describes the migrations. Throws if there is no database, `StoreTooNewError` for a
 * newer one, and `StoreInUseError` while a server has an older SQLite database open.
 */
export async function migrateDatabase(config: Config, isPlan: boolean, announce: Announce) {
  const found = await requireKnownSchema(config);
  if (!isPlan) await migrateStore(config, found, announce);
  return {
    database: found.name,
    schema: isPlan ? found.number : Math.max(found.number, found.known),
    newest_schema: found.known,
    migrations: presentMigrations(found),
    migrated: !isPlan && found.pending.length > 0,
  };
}

/** Opens the store. Throws `StoreInUseError`, `StoreTooNewError`, or `StoreOutdatedError` unless `mayMigrate`. */
export async function openStore(
  config: Config,
  log: Log,
  { mayMigrate }: { readonly mayMigrate: boolean },
): Promise<Store> {
  const { databaseUrl: url } = config;
  if (url !== null) {
    const { openPostgresStore } = await import('./store/postgres-store.ts');
    const onError = (error: Error) => log.error({ err: error }, 'a background database operation failed');
    return naming('DATABASE_URL', () => openPostgresStore({ url, onError, mayMigrate }));
  }
  const file = join(config.dataDir, SQLITE_FILE);
  const onError = (error: Error) =>
    log.error({ err: error }, 'a commit failed; its callers received the error');
  return naming('DATA_DIR', () => openSqliteStore({ file, onError, mayMigrate }));
}

/** Opens, creates or migrates the store for a starting server. Waits briefly for a command that is finishing. */
export async function openStoreToServe(config: Config, log: Log): Promise<Store> {
  const migration = describeMigration(await findSchema(config));
  if (migration !== null) log.info(migration);
  const store = await retryWhileInUse(START_TIMEOUT_MS, () => openStore(config, log, { mayMigrate: true }));
  if (migration !== null) log.info('the database has the schema of this version');
  return store;
}

/** Retries while another process holds the store. Throws `StoreInUseError` after `patienceMs`. */
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
