import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { databaseUrls } from '../platform/database-url.ts';
import type { OnProgress } from '../platform/progress.ts';
import { type MoveDatabase, type MoveRole, moveTables, type SideOptions } from '../store/move-tables.ts';
import { openPostgresSide } from '../store/postgres/move.ts';
import { openSqliteSide } from '../store/sqlite/move.ts';
import { MoveRefusedError } from '../store/store-errors.ts';
import { migrations } from './migrations.ts';
import { describeMigration, SQLITE_FILE } from './open-store.ts';
import { tables } from './store/store.ts';

const openSide = {
  sqlite: (file: string, role: MoveRole, onCreate?: SideOptions['onCreate']) =>
    openSqliteSide(file, role, { migrations: migrations.SQLite, tables, onCreate }),
  postgres: (url: string, role: MoveRole, onCreate?: SideOptions['onCreate']) =>
    openPostgresSide(url, role, { migrations: migrations.PostgreSQL, tables, onCreate }),
};

interface Place {
  readonly engine: keyof typeof openSide;
  readonly at: string;
}

/**
 * Copies everything from a SQLite database to a PostgreSQL one or vice versa, and compares the two. The target stays
 * empty unless they are equal. Throws `MoveRefusedError` or `StoreInUseError` before anything is copied.
 */
export async function moveStore(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  { from, to }: { readonly from: string; readonly to: string },
  announce: (sentence: string) => void = () => {},
  onProgress: OnProgress = () => {},
) {
  const [origin, destination] = [placeOf(config, from), placeOf(config, to)];
  if (origin.engine === destination.engine) {
    throw new MoveRefusedError('move-store copies from SQLite to PostgreSQL or back, not within one engine');
  }
  const source = await openSide[origin.engine](origin.at, 'source');
  try {
    const target = await openSide[destination.engine](destination.at, 'target', (found) =>
      announce(describeMigration(found) ?? ''),
    );
    try {
      let total = 0;
      for (const { name } of tables) total += await source.countRows(name);
      const counted = counter(total, onProgress);
      return await moveTables(counted(source, 'rows copied'), counted(target, 'rows compared'), tables);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Returns a function that wraps one side of the move and reports the rows read from it. */
function counter(total: number, onProgress: OnProgress) {
  return (side: MoveDatabase, unit: string): MoveDatabase => {
    let done = 0;
    return {
      ...side,
      async *read(table) {
        for await (const rows of side.read(table)) {
          yield rows;
          done += rows.length;
          onProgress({ unit, done, total });
          // Yields to the event loop, because SQLite reads without pausing and signals would not arrive.
          await nextTurn();
        }
      },
    };
  };
}

/** Parses `sqlite`, `postgres` (no password in the process list), a `postgres://` URL, a data folder or a file. */
function placeOf({ dataDir, databaseUrl }: Pick<Config, 'dataDir' | 'databaseUrl'>, place: string): Place {
  if (place === 'sqlite') return { engine: 'sqlite', at: join(dataDir, SQLITE_FILE) };
  if (place === 'postgres') {
    if (databaseUrl === null)
      throw new MoveRefusedError('DATABASE_URL is empty: set it to the PostgreSQL database');
    return { engine: 'postgres', at: databaseUrl };
  }
  if (/^postgres(?:ql)?:/.test(place)) {
    try {
      databaseUrls(place);
    } catch (error) {
      throw new MoveRefusedError(`a postgres:// URL is not valid: ${(error as Error).message}`);
    }
    return { engine: 'postgres', at: place };
  }
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  return { engine: 'sqlite', at: isFolder ? join(place, SQLITE_FILE) : place };
}
