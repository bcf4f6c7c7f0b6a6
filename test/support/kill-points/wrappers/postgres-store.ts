import { openPostgresStore as openOriginal } from '../../../../src/app/store/postgres-store.ts';
import { withKillPoints } from './store.ts';

export const openPostgresStore = async (options: Parameters<typeof openOriginal>[0]) =>
  withKillPoints(await openOriginal(options));
