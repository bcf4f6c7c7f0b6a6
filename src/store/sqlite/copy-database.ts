import { closeSync, fstatSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { OnProgress } from '../../platform/progress.ts';
import { type JournalHead, NO_MOVEMENTS } from '../../settlement/journal.ts';
import type { Migration } from '../migration.ts';
import { MARK_RESTORED } from '../restores.ts';
import { readSchema } from './migrations.ts';

/** Maximum wait for another connection's lock. Writers hold locks only briefly. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies a snapshot of a database, which may be in use, into a new private file, reads it back and flushes it. Any
 * error, even in `onProgress`, removes the copy. A kill leaves an empty `target` and a `target.unfinished`, which block
 * the next backup into that file. Throws `UnreleasedSchemaError`. Throws `Error` if `target`, `target.unfinished` or a
 * journal of either exists; if the folder is missing, or writable for every user without the sticky bit; if `file` is
 * not a database of this service or has no account; and if the copy is damaged.
 */
export async function copyDatabase(
  file: string,
  target: string,
  migrations: readonly Migration[],
  onProgress: OnProgress,
) {
  const source = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    requireContent(source, file, migrations);
    requireSafePlace(target);
    // Reserves the name, so that only one of two concurrent backups into the same file succeeds.
    closeSync(createExclusively(target));
    try {
      return await copyInto(source, target, onProgress);
    } catch (error) {
      rmSync(target, { force: true });
      throw error;
    }
  } finally {
    source.close();
  }
}

/** Throws for an empty or foreign database, a mistake that would otherwise surface only at the restore. */
function requireContent(source: DatabaseSync, file: string, migrations: readonly Migration[]): void {
  const tables = source.prepare(
    "SELECT count(*) AS count FROM sqlite_schema WHERE type = 'table' AND name IN ('migrations', 'accounts', 'payments')",
  );
  if (tables.get()?.['count'] !== 3)
    throw new Error(`${file} is not a card-checkout database; is DATA_DIR right?`);
  readSchema(source, file, migrations);
  if (source.prepare('SELECT 1 FROM accounts LIMIT 1').get() === undefined)
    throw new Error(`${file} holds no account, so there is nothing to back up; is DATA_DIR right?`);
}

/** Mode bits of a folder: any user may write in it, and only a file's owner may rename the file. */
const [WORLD_WRITABLE, STICKY] = [0o002, 0o1000];

/** Refuses folders where any user could rename the copy, and files that SQLite would treat as its journal. */
function requireSafePlace(target: string): void {
  const mode = statSync(dirname(target), { throwIfNoEntry: false })?.mode;
  if (mode === undefined)
    throw new Error(`${dirname(target)} does not exist: create it, writable for this user only`);
  if ((mode & WORLD_WRITABLE) !== 0 && (mode & STICKY) === 0)
    throw new Error(`${dirname(target)} is writable for every user; back up into a folder of your own`);
  for (const path of [target, `${target}.unfinished`]) {
    for (const part of ['-journal', '-wal', '-shm']) {
      // Uses lstat, which also finds dangling symbolic links.
      if (lstatSync(`${path}${part}`, { throwIfNoEntry: false }) !== undefined)
        throw new Error(
          `${path}${part} exists already, and SQLite would read it as a part of the backup; remove it`,
        );
    }
  }
}

async function copyInto(source: DatabaseSync, target: string, onProgress: OnProgress) {
  const unfinished = `${target}.unfinished`;
  const descriptor = createExclusively(unfinished);
  try {
    // Holds a snapshot, because otherwise each write by another process would restart the copy.
    source.exec('BEGIN; SELECT 1 FROM accounts LIMIT 1');
    const pages = await backup(source, unfinished, {
      progress: ({ totalPages: total, remainingPages }) =>
        onProgress({ unit: 'pages copied', done: total - remainingPages, total }),
    });
    onProgress({ unit: 'pages copied', done: pages, total: pages });
    requireSameFile(descriptor, unfinished);
    markRestored(unfinished);
    const found = await inspect(unfinished, onProgress);
    fsyncSync(descriptor);
    requireSameFile(descriptor, unfinished);
    renameSync(unfinished, target);
    flushFolder(dirname(target));
    return found;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Creates a file. Refuses symbolic links and existing files, because another user could have made them. */
function createExclusively(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${path} exists already; a backup replaces no file`, { cause: error });
  }
}

/** Throws if the path, which SQLite opens by name, no longer refers to the open file. */
function requireSameFile(descriptor: number, path: string): void {
  const [made, found] = [fstatSync(descriptor), lstatSync(path)];
  if (made.dev !== found.dev || made.ino !== found.ino || made.nlink !== 1)
    throw new Error(`${path} was replaced while the backup was made; back up into a folder of your own`);
}

/**
 * Marks a copy as restored, so that a service started with the copy does not resend what was sent after the backup.
 * `VACUUM` drops free pages, which may contain erased data.
 */
function markRestored(file: string): void {
  const copy = new DatabaseSync(file);
  try {
    copy.exec(`PRAGMA journal_mode = MEMORY; ${MARK_RESTORED}; VACUUM`);
  } finally {
    copy.close();
  }
}

/** Checks all tables of the copy for damage. Returns facts about the backup. */
async function inspect(file: string, onProgress: OnProgress) {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = copy.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    for (const [index, { name }] of tables.entries()) {
      const check = copy.prepare(`PRAGMA quick_check("${name}")`).get()?.['quick_check'];
      if (check !== 'ok')
        throw new Error(`the copy is damaged, and so the database may be: ${String(check)}`);
      onProgress({ unit: 'tables checked', done: index + 1, total: tables.length });
      await nextTurn();
    }
    const fingerprints = copy.prepare(
      'SELECT DISTINCT token_fingerprint AS fingerprint FROM payments ORDER BY 1',
    );
    const end = copy.prepare('SELECT number, hash FROM journal ORDER BY number DESC LIMIT 1').get();
    const head = (end as JournalHead | undefined) ?? NO_MOVEMENTS;
    return {
      bytes: statSync(file).size,
      /** Fingerprints of the secrets that sign the payments' tokens. The database never contains the secrets. */
      secret_fingerprints: fingerprints.all().map(({ fingerprint }) => fingerprint as string),
      book_entries: head.number,
      book_hash: head.hash,
    };
  } finally {
    copy.close();
  }
}

function flushFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
