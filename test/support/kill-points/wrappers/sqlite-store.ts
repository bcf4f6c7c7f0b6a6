import {
  openSqliteStore as openOriginal,
  openLocked as openOriginalLocked,
  type SqliteStoreOptions,
} from '../../../../src/store/sqlite/open-store.ts';
import { withKillPoints } from './store.ts';

/** For the move between stores, which nothing interrupts here. */
export const openLocked = openOriginalLocked;

export const openSqliteStore = async (options: SqliteStoreOptions) =>
  withKillPoints(await openOriginal(options));
