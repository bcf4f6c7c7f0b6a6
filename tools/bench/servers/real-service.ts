import { join } from 'node:path';
import { createKey } from '../../../src/accounts/api-keys.ts';
import { createAccount } from '../../../src/accounts/manage-accounts.ts';
import { createLog } from '../../../src/app/log.ts';
import { openStore } from '../../../src/app/open-store.ts';
import { startService } from '../../../src/app/start-service.ts';
import type { Store } from '../../../src/app/store/store.ts';
import { readConfig } from '../../../src/config/config.ts';
import { answerDnsHere } from './answer-dns-here.ts';
import { type BenchServer, KEYS_PER_ACCOUNT } from './bench-server.ts';
import { benchSecret, createStubWorld } from './stub-world.ts';

const ACCOUNTS = 4;
const UNLIMITED_PER_MINUTE = 100_000_000;

/**
 * The service as it ships: every route, limiter, metric and log line, and its worker beside the API. Only the external
 * around it is a stub, DNS included, so that nothing leaves the machine; the limits are raised by configuration.
 */
export async function startRealService(dataDir: string, databaseUrl: string | null): Promise<BenchServer> {
  answerDnsHere();
  // `sandbox` only because live mode asks for credentials of a chain; only the external services differ, which are given.
  const config = {
    ...readConfig('sandbox', {
      DATA_DIR: dataDir,
      BASE_URL: 'https://checkout.example',
      RATE_LIMIT_CREATE_PER_MINUTE: String(UNLIMITED_PER_MINUTE),
      RATE_LIMIT_STATUS_PER_MINUTE: String(UNLIMITED_PER_MINUTE),
      ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
    }),
    port: 0,
    adminPort: 0,
  };
  const log = createLog(config.logLevel);
  const store = await openStore(config, log, { mayMigrate: true });
  const external = createStubWorld();
  const service = await startService({
    config,
    role: 'all',
    store,
    external,
    log,
    mailer: null,
    drainDelayMs: 0,
    secretKey: benchSecret,
    clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
  });
  return {
    port: service.port,
    databaseFile: databaseUrl === null ? join(dataDir, 'card-checkout.sqlite') : null,
    apiKeys: await createApiKeys(store),
    async stop() {
      await service.stop();
      await store.close();
    },
  };
}

async function createApiKeys(store: Store): Promise<string[]> {
  const context = { accounts: store.accounts, nowMs: Date.now };
  const apiKeys: string[] = [];
  for (let account = 0; account < ACCOUNTS; account++) {
    const { id } = await createAccount(context, {
      name: `Shop ${account}`,
      email: null,
      feeBasisPoints: 250,
      wallet: null,
    });
    for (let key = 0; key < KEYS_PER_ACCOUNT; key++) {
      apiKeys.push((await createKey(context, id, { name: `Key ${key}` })).plainKey);
    }
  }
  return apiKeys;
}
