import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import { type ApiService, createApiService } from '../../support/api-service.ts';

/** The API over a store of its own, which tells what was stored since it was last asked. */
export interface HostileService {
  readonly service: ApiService;
  /** Ids of the payments that were stored since the last call. */
  takeStored(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Sorts after every payment id. */
const AFTER_ALL_IDS = 'g';
const MOST_AT_ONCE = 100;

export async function openHostileService(): Promise<HostileService> {
  const folder = await mkdtemp(join(tmpdir(), 'card-checkout-hostile-'));
  const service = await createApiService({
    requestsPerMinute: 1_000_000_000,
    database: {
      open: () => openSqliteStore({ file: join(folder, 'store.sqlite') }),
      remove: () => rm(folder, { recursive: true }),
    },
  });
  let last = '';
  return {
    service,
    async takeStored() {
      const ids = await service.store.payments.listPaymentIds(last, AFTER_ALL_IDS, MOST_AT_ONCE);
      last = ids.at(-1) ?? last;
      return ids;
    },
    close: () => service.close(),
  };
}
