/** `node tools/bench/children/log-scanner.ts DATA_DIR URL`: scans the requested number of pages. */
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import { settleScanned } from '../../../src/payment/settle.ts';
import { createChainReader } from '../../../src/settlement/chain/create-chain-reader.ts';
import { createChainEndpoints } from '../../../src/settlement/chain/endpoint-rotation.ts';
import {
  createKeptBlocks,
  createOpenAddresses,
  watchDeposits,
} from '../../../src/settlement/watch-deposits.ts';
import { answerParent } from '../answer-parent.ts';
import { BLOCKS_A_PAGE, DEPOSITS_A_PAGE, LOGS_A_PAGE, type ScannedPages } from '../measurements/log-scan.ts';
import { addresses } from '../servers/stub-world.ts';

const [dataDir = '', url = ''] = process.argv.slice(2);
const store = await openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') });
const endpoints = createChainEndpoints({ urls: [url], chainId: 137 });
let deposits = 0;
const context = {
  chain: createChainReader({
    endpoints,
    sources: { token: addresses.token, factories: [addresses.factory] },
    // One page, so that each pass reads one.
    initialBlockRange: BLOCKS_A_PAGE,
    maximumBlockRange: BLOCKS_A_PAGE,
  }),
  observations: store.observations,
  payments: store.payments,
  openAddresses: createOpenAddresses({ ...store, monotonicMs: () => performance.now() }),
  kept: createKeptBlocks(),
  finality: { everyMs: 0, monotonicMs: () => performance.now() },
  expectsReleases: async () => true,
  decide(view: Parameters<typeof settleScanned>[0]) {
    deposits++;
    return settleScanned(view, { nowMs: Date.now() });
  },
  onRewind() {
    throw new Error('the prepared chain lost blocks');
  },
};
await watchDeposits(context);

answerParent(
  {},
  (pages) => scan(pages as number),
  async () => {
    await store.close();
    await Promise.all(endpoints.map((endpoint) => endpoint.rpc.close()));
  },
);

async function scan(pages: number): Promise<ScannedPages> {
  deposits = 0;
  const steps = monitorEventLoopDelay({ resolution: 1 });
  steps.enable();
  const before = process.cpuUsage();
  for (let page = 0; page < pages; page++) await watchDeposits(context);
  const { user, system } = process.cpuUsage(before);
  steps.disable();
  if (deposits !== pages * DEPOSITS_A_PAGE)
    throw new Error(`${deposits} deposits were found in ${pages} pages`);
  return { logs: pages * LOGS_A_PAGE, cpuMicroseconds: user + system, longestStepMs: steps.max / 1_000_000 };
}
