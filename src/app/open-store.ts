import { join } from 'node:path';
import type { Config } from '../config.ts';
import { openSqliteStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import type { Log } from './log.ts';

/** Opens the store that the configuration names. Throws `StoreInUseError` while another process serves it. */
export function openStore(config: Config, log: Log): Promise<Store> {
  return openSqliteStore({
    file: join(config.dataDir, 'card-checkout.sqlite'),
    onError: (error) => log.error({ err: error }, 'a commit failed; its callers were told'),
  });
}
