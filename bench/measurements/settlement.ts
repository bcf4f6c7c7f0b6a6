import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExternalServices } from '../../src/app/external-services.ts';
import { createWorkerTasks } from '../../src/app/worker-tasks.ts';
import { closeChainEndpoints } from '../../src/chain/endpoint-rotation.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { Relayer } from '../../src/domain/ports/chain.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startWorker, type WorkerTask } from '../../src/worker.ts';
import { type LocalChain, startLocalChain } from '../../test/chain/local-chain.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { benchAccount } from '../bench-payment.ts';
import { countedAddress } from '../counted-address.ts';
import type { Measurement, Series } from './measurement.ts';
import { measureLatency } from './settlement-latency.ts';
import {
  BLOCK_SECONDS,
  countCalls,
  createPayments,
  DEPOSIT_UNITS,
  MERCHANTS,
  settlementParts,
  settlementWorld,
} from './settlement-world.ts';

/** Half of a block of Polygon: the rest is for others. */
const BLOCK_GAS_LIMIT = 22_500_000;
const PATIENCE_MS = 300_000;

/** One run: its relayer keys, and the percentage of broadcasts that the node swallows. */
interface Variant {
  readonly name: string;
  readonly keys: number;
  readonly swallowedPercent: number;
  /** Whether the payments are in PostgreSQL instead of SQLite. */
  readonly isOnPostgres?: true;
}

const variants: readonly Variant[] = [
  { name: 'one key', keys: 1, swallowedPercent: 0 },
  { name: 'two keys', keys: 2, swallowedPercent: 0 },
  { name: 'one key, 30 % of broadcasts swallowed', keys: 1, swallowedPercent: 30 },
  { name: 'one key, on PostgreSQL', keys: 1, swallowedPercent: 0, isOnPostgres: true },
];

/**
 * The worker's own watcher and senders against a real node: payments whose deposits are all there at once are released
 * in batches, and are paid when the releases are final. The chain's capacity is what its block gas limit allows at the
 * gas that the releases used. While a sender is not in one of its steps, it waits for the chain; what it asks the node
 * within a step counts as its own time. Then payments one after the other, for how long each takes.
 */
export const settlement: Measurement = {
  name: 'settlement',
  title: `Settlement on a local chain: a block of ${BLOCK_GAS_LIMIT / 1e6} million gas every ${BLOCK_SECONDS} s`,
  async measure({ extent, folder }) {
    const series: Series[] = [];
    const durations = new Map<string, number>();
    for (const variant of variants) {
      const run = await settleOnce(variant, extent.settledPayments, join(folder, `${durations.size}.sqlite`));
      durations.set(variant.name, run.durationMs);
      const add = (name: string, unit: string, value: number) =>
        series.push({ name: `${variant.name}: ${name}`, unit, values: [value] });
      add('settled', 'payments a second', run.paymentsPerSecond);
      add('whole run', 'of the capacity', run.paymentsPerSecond / run.capacity);
      if (run.plateau !== null) add('plateau', 'of the capacity', run.plateau);
      add('RPC calls', 'a payment', run.callsPerPayment);
      add('processor time of the process', 'ms a payment', run.cpuMsPerPayment);
      add('sender idle', 'of the time', run.idle);
    }
    const [whole = 0, , swallowed = 0] = variants.map(({ name }) => durations.get(name));
    series.push({
      name: '30 % of broadcasts swallowed',
      unit: 'times as long',
      values: [swallowed / whole],
    });
    return [...series, ...(await measureLatency(extent.timedPayments, folder))];
  },
};

interface SettledRun {
  readonly durationMs: number;
  readonly paymentsPerSecond: number;
  /** Payments a second that the chain has room for. */
  readonly capacity: number;
  /** The share of the block gas that releases used, between the first and the last block that has some; null for few. */
  readonly plateau: number | null;
  readonly callsPerPayment: number;
  readonly cpuMsPerPayment: number;
  readonly idle: number;
}

async function settleOnce(variant: Variant, payments: number, file: string): Promise<SettledRun> {
  const chain = await startLocalChain();
  const postgres = variant.isOnPostgres === true ? await startPostgres() : null;
  const store =
    postgres === null
      ? await openSqliteStore({ file })
      : await openPostgresStore({ url: await postgres.createDatabase() });
  const { endpoints, count } = countCalls(chain);
  try {
    await store.accounts.createAccount(benchAccount());
    const { rpc } = chain.anvil;
    const world = settlementWorld(chain, endpoints, variant.keys);
    const [first, ...others] = world.relayers.map((relayer) => swallowing(relayer, variant.swallowedPercent));
    const external = { ...world, relayers: [first as Relayer, ...others] as const };
    const { tasks, busyMs } = settlementTasks(store, external);
    // Sets the cursor before anything is paid.
    await tasks[0]?.run(new AbortController().signal);
    await payAll(chain, await createPayments(chain, store, payments));
    await rpc('evm_setAutomine', [false]);
    await rpc('evm_setBlockGasLimit', [`0x${BLOCK_GAS_LIMIT.toString(16)}`]);
    const firstBlock = (await chain.anvil.blockNumber()) + 1;
    await rpc('evm_setIntervalMining', [BLOCK_SECONDS]);

    const startMs = performance.now();
    const callsBefore = count();
    const cpuBefore = process.cpuUsage();
    const worker = startWorker(tasks, (name, error) => {
      process.stderr.write(`${name}: ${String(error)}\n`);
    });
    await untilAllPaid(store, startMs + PATIENCE_MS).finally(() => worker.stop());
    const durationMs = performance.now() - startMs;
    const calls = count() - callsBefore;
    const { user, system } = process.cpuUsage(cpuBefore);
    await checkReleasedOnce(store, payments);
    const used = await readGasUsed(chain, firstBlock);
    const gasPerPayment = used.reduce((sum, gas) => sum + gas, 0) / payments;
    const inner = used.slice(
      used.findIndex((gas) => gas > 0) + 1,
      used.findLastIndex((gas) => gas > 0),
    );
    return {
      durationMs,
      paymentsPerSecond: (payments * 1000) / durationMs,
      capacity: BLOCK_GAS_LIMIT / gasPerPayment / BLOCK_SECONDS,
      plateau:
        inner.length < 2 ? null : inner.reduce((sum, gas) => sum + gas, 0) / inner.length / BLOCK_GAS_LIMIT,
      callsPerPayment: calls / payments,
      cpuMsPerPayment: (user + system) / 1000 / payments,
      idle: 1 - busyMs() / durationMs / variant.keys,
    };
  } finally {
    await closeChainEndpoints(endpoints);
    await store.close();
    await postgres?.stop();
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

/** Throws where a payment was not released exactly once. */
async function checkReleasedOnce(store: Store, count: number): Promise<void> {
  const payments = await store.payments.listPayments({ status: 'paid' }, null, count);
  if (payments.length !== count) throw new Error(`${payments.length} of ${count} payments are paid`);
  for (const { id } of payments) {
    const view = await store.payments.viewPayment(id);
    if (view?.observations.releases.length !== 1) throw new Error(`${id} was not released exactly once`);
  }
}

/** Loses so many of a hundred broadcasts, and says that they went; which ones is the same in every run. */
function swallowing(relayer: Relayer, percent: number): Relayer {
  let state = 1;
  const isLost = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 100 < percent;
  };
  return {
    ...relayer,
    broadcast: async (rawTransaction) => (isLost() ? undefined : relayer.broadcast(rawTransaction)),
  };
}

/** The worker's own watcher and senders, and how long the senders have been at work. */
function settlementTasks(
  store: Store,
  external: ExternalServices,
): { tasks: readonly WorkerTask[]; busyMs: () => number } {
  const deliver = () => Promise.reject(new Error('no webhook is sent here'));
  const { watching, sending } = createWorkerTasks(
    settlementParts(store, external, { deliver, wake: () => {} }),
  );
  let busyMs = 0;
  const timed = sending.map(
    (task): WorkerTask => ({
      ...task,
      async run(signal) {
        const startMs = performance.now();
        return task.run(signal).finally(() => {
          busyMs += performance.now() - startMs;
        });
      },
    }),
  );
  return { tasks: [...watching.filter(({ name }) => name === 'watch'), ...timed], busyMs: () => busyMs };
}

async function payAll(chain: LocalChain, payments: readonly Payment[]): Promise<void> {
  // Merchants have been paid before: a wallet's first USDC takes a third more gas.
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
