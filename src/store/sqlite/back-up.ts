import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type MovementHead, NO_MOVEMENTS } from '../../domain/movement.ts';

/** What a copy holds, as read back from it. */
export interface SqliteBackup {
  readonly bytes: number;
  /** Names the secrets that the payments' tokens need; the secrets themselves are in no database. */
  readonly secretFingerprints: readonly string[];
  /** The end of the book of movements; null in a database of a version that had none. */
  readonly book: MovementHead | null;
}

/** A commit takes a moment only; a writer never holds the database for longer. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Copies a database, as it is at one moment, into a new file for its owner's eyes only, and reads the copy back. The
 * database may be served by another process meanwhile: the copy is made on a connection of its own that only reads, so
 * nobody waits for it. When this returns the copy is on the disk; when it throws there is none, and a kill leaves an
 * empty file behind.
 *
 * @throws Error when `target` exists, and when the copy is damaged
 */
export function backUpSqlite(file: string, target: string): SqliteBackup {
  const source = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    // Taken before the copy is made: of two backups into one file, one is refused.
    closeSync(reserve(target));
    return copyInto(source, target);
  } finally {
    source.close();
  }
}

function copyInto(source: DatabaseSync, target: string): SqliteBackup {
  const unfinished = `${target}.unfinished`;
  try {
    closeSync(openSync(unfinished, 'w', 0o600));
    source.prepare('VACUUM INTO ?').run(unfinished);
    const found = inspect(unfinished);
    flush(unfinished);
    renameSync(unfinished, target);
    flush(dirname(target));
    return found;
  } catch (error) {
    rmSync(unfinished, { force: true });
    rmSync(target, { force: true });
    throw error;
  }
}

function reserve(target: string): number {
  try {
    return openSync(target, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${target} exists already; a backup replaces no file`, { cause: error });
  }
}

/** Reads the whole copy once: one that cannot be read would be found out too late. */
function inspect(file: string): SqliteBackup {
  const copy = new DatabaseSync(file, { readOnly: true });
  try {
    const check = copy.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
    if (check !== 'ok') throw new Error(`the copy is damaged, and so the database may be: ${String(check)}`);
    const fingerprints = copy.prepare(
      'SELECT DISTINCT token_fingerprint AS fingerprint FROM payments ORDER BY 1',
    );
    return {
      bytes: statSync(file).size,
      secretFingerprints: fingerprints.all().map(({ fingerprint }) => fingerprint as string),
      book: readBookEnd(copy),
    };
  } finally {
    copy.close();
  }
}

function readBookEnd(copy: DatabaseSync): SqliteBackup['book'] {
  const hasBook = copy.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'movements'").get() !== undefined;
  if (!hasBook) return null;
  const end = copy.prepare('SELECT number, hash FROM movements ORDER BY number DESC LIMIT 1').get();
  return (end as SqliteBackup['book'] | undefined) ?? NO_MOVEMENTS;
}

/** A file's contents, or a folder's list of names, are on the disk when this returns. */
function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
