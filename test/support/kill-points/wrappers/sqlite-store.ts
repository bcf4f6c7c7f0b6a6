import {
  openSqliteStore as openOriginal,
  type SqliteStoreOptions,
} from '../../../../src/app/store/sqlite-store.ts';
import { withKillPoints } from './store.ts';

export const openSqliteStore = async (options: SqliteStoreOptions) =>
  withKillPoints(await openOriginal(options));
