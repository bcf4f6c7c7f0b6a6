import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExternalServices } from '../../../src/app/external-services.ts';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import type { Store } from '../../../src/app/store/store.ts';
import { startWorker } from '../../../src/app/worker.ts';
import type { WorkerTask } from '../../../src/app/worker-parts.ts';
import { createWorkerTasks } from '../../../src/app/worker-tasks.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import { closeChainEndpoints } from '../../../src/settlement/chain/endpoint-rotation.ts';
import { type LocalChain, startLocalChain } from '../../../test/chain/local-chain.ts';
import { benchAccount } from '../bench-payment.ts';
import { countedAddress } from '../counted-address.ts';
import type { Measurement, Series } from './measurement.ts';
import { measureLatency } from './settlement-latency.ts';
import {
  BLOCK_SECONDS,
  createPayments,
  DEPOSIT_UNITS,
  endpointsOf,
  MERCHANTS,
  settlementParts,
  settlementWorld,
} from './settlement-world.ts';

/** Half of a Polygon block; the rest is left to other transactions. */
const BLOCK_GAS_LIMIT = 22_500_000;
const PATIENCE_MS = 300_000;

/**
 * The worker's own watcher and senders against a real node: payments whose deposits are all there at once are released
 * in batches by one relayer key, and are paid when the releases are final. The chain's capacity is what its block gas limit
 * allows at the gas that the releases used. Then payments one after the other, for how long each takes.
 */
export const settlement: Measurement = {
  name: 'settlement',
  title: `Settlement on a local chain: a block of ${BLOCK_GAS_LIMIT / 1e6} million gas every ${BLOCK_SECONDS} s`,
  async measure({ extent, folder }) {
    const run = await settleOnce(extent.settledPayments, join(folder, 'settlement.sqlite'));
    const series: Series[] = [
      { name: 'settled', unit: 'payments a second', values: [run.paymentsPerSecond] },
      { name: 'whole run', unit: 'of the capacity', values: [run.paymentsPerSecond / run.capacity] },
    ];
    if (run.plateau !== null)
      series.push({ name: 'plateau', unit: 'of the capacity', values: [run.plateau] });
    return [...series, ...(await measureLatency(extent.timedPayments, folder))];
  },
};

interface SettledRun {
  readonly paymentsPerSecond: number;
  /** Capacity of the chain in payments per second. */
  readonly capacity: number;
  /** Releases' share of block gas, from their first to their last block; null for too few blocks. */
  readonly plateau: number | null;
}

async function settleOnce(payments: number, file: string): Promise<SettledRun> {
  const chain = await startLocalChain();
  const store = await openSqliteStore({ file });
  const endpoints = endpointsOf(chain);
  try {
    await store.accounts.createAccount(benchAccount());
    const { rpc } = chain.anvil;
    const tasks = settlementTasks(store, settlementWorld(chain, endpoints));
    // Sets the cursor before anything is paid.
    await tasks[0]?.run(new AbortController().signal);
    await payAll(chain, await createPayments(chain, store, payments));
    await rpc('evm_setAutomine', [false]);
    await rpc('evm_setBlockGasLimit', [`0x${BLOCK_GAS_LIMIT.toString(16)}`]);
    const firstBlock = (await chain.anvil.blockNumber()) + 1;
    await rpc('evm_setIntervalMining', [BLOCK_SECONDS]);

    const startMs = performance.now();
    const worker = startWorker(tasks, (name, error) => {
      process.stderr.write(`${name}: ${String(error)}\n`);
    });
    await untilAllPaid(store, startMs + PATIENCE_MS).finally(() => worker.stop());
    const durationMs = performance.now() - startMs;
    await checkReleasedOnce(store, payments);
    const used = await readGasUsed(chain, firstBlock);
    const gasPerPayment = used.reduce((sum, gas) => sum + gas, 0) / payments;
    const inner = used.slice(
      used.findIndex((gas) => gas > 0) + 1,
      used.findLastIndex((gas) => gas > 0),
    );
    return {
      paymentsPerSecond: (payments * 1000) / durationMs,
      capacity: BLOCK_GAS_LIMIT / gasPerPayment / BLOCK_SECONDS,
      plateau:
        inner.length < 2 ? null : inner.reduce((sum, gas) => sum + gas, 0) / inner.length / BLOCK_GAS_LIMIT,
    };
  } finally {
    await closeChainEndpoints(endpoints);
    await store.close();
    await chain.stop();
  }
}

async function readGasUsed({ anvil }: LocalChain, firstBlock: number): Promise<number[]> {
  const used: number[] = [];
  for (let block = firstBlock; block <= (await anvil.blockNumber()); block++) {
    const answer = await anvil.rpc('eth_getBlockByNumber', [`0x${block.toString(16)}`, false]);
    used.push(Number((answer as { gasUsed: string }).gasUsed));
  }
  return used;
}

/** Throws if a payment was not released exactly once. */
async function checkReleasedOnce(store: Store, count: number): Promise<void> {
  const payments = await store.payments.listPayments({ status: 'paid' }, null, count);
  if (payments.length !== count) throw new Error(`${payments.length} of ${count} payments are paid`);
  for (const { id } of payments) {
    const view = await store.payments.viewPayment(id);
    if (view?.observations.releases.length !== 1) throw new Error(`${id} was not released exactly once`);
  }
}

/** The worker's own watcher and sender. */
function settlementTasks(store: Store, external: ExternalServices): readonly WorkerTask[] {
  const deliver = () => Promise.reject(new Error('no webhook is sent here'));
  const { watching, sending } = createWorkerTasks(
    settlementParts(store, external, { deliver, wake: () => {} }),
  );
  return [...watching.filter(({ name }) => name === 'watch'), ...sending];
}

async function payAll(chain: LocalChain, payments: readonly Payment[]): Promise<void> {
  // Pays merchants once in advance, because a wallet's first USDC takes a third more gas.
  for (let index = 0; index < MERCHANTS; index++) {
    await chain.callToken({ name: 'mint', to: countedAddress(index), units: 1n });
  }
  for (const { depositAddress } of payments) {
    await chain.callToken({ name: 'mint', to: depositAddress, units: DEPOSIT_UNITS });
  }
}

async function untilAllPaid(store: Store, deadlineMs: number): Promise<void> {
  while ((await store.payments.listPayments({ status: 'unpaid' }, null, 1)).length > 0) {
    if (performance.now() > deadlineMs) throw new Error('not all payments were settled in time');
    await delay(100);
  }
}
