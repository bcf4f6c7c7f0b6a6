import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import type { Store } from '../../../src/app/store/store.ts';
import { startWorker, type Worker } from '../../../src/app/worker.ts';
import { createWorkerTasks } from '../../../src/app/worker-tasks.ts';
import type { Payment } from '../../../src/payment/payment.ts';
import type { LatestBlock } from '../../../src/settlement/chain/chain.ts';
import { closeChainEndpoints } from '../../../src/settlement/chain/endpoint-rotation.ts';
import { type HeadSubscription, subscribeToHeads } from '../../../src/settlement/chain/subscribe-to-heads.ts';
import { type LocalChain, startLocalChain } from '../../../test/chain/local-chain.ts';
import { benchAccount } from '../bench-payment.ts';
import type { Series } from './measurement.ts';
import {
  BLOCK_SECONDS,
  createPayments,
  DEPOSIT_UNITS,
  endpointsOf,
  FINAL_AFTER_BLOCKS,
  settlementParts,
  settlementWorld,
} from './settlement-world.ts';

const PATIENCE_MS = 60_000;
/** Polling interval for `paid`, which is the maximum error of the figures. */
const LOOK_MS = 10;

/** Durations of one payment. */
interface TimedPayment {
  readonly paidAfterMs: number;
  /** Time of the next block and its finality, the minimum for a final release. */
  readonly floorMs: number;
}

/**
 * Payments one after the other: from the block with the deposit to `paid`. The worker's own watcher and sender work as in
 * live mode, with one endpoint and one relayer key. Each deposit is within a minute of the release before, so that the
 * watcher polls each second; where blocks are announced, polling decides nothing.
 */
export async function measureLatency(payments: number, folder: string): Promise<readonly Series[]> {
  const series: Series[] = [];
  for (const isAnnounced of [true, false]) {
    const blocks = `blocks ${isAnnounced ? 'announced' : 'polled'}`;
    const timed = await timePayments(payments, isAnnounced, join(folder, `${blocks}.sqlite`));
    series.push(
      {
        name: `deposit mined to paid, ${blocks}`,
        unit: 's',
        values: timed.map(({ paidAfterMs }) => paidAfterMs / 1000),
      },
      {
        name: `deposit mined to paid, of the floor, ${blocks}`,
        unit: 'times as long',
        values: timed.map(({ paidAfterMs, floorMs }) => paidAfterMs / floorMs),
      },
    );
  }
  return series;
}

async function timePayments(count: number, isAnnounced: boolean, file: string): Promise<TimedPayment[]> {
  const chain = await startLocalChain({ mining: 'manual' });
  const store = await openSqliteStore({ file });
  const endpoints = endpointsOf(chain);
  const blocks = startBlocks(chain);
  let subscription: HeadSubscription | null = null;
  let worker: Worker | null = null;
  try {
    await store.accounts.createAccount(benchAccount());
    const external = {
      ...settlementWorld(chain, endpoints),
      subscribeToHeads(onHead: (block: LatestBlock) => void) {
        if (isAnnounced) {
          subscription = subscribeToHeads({ urls: [chain.anvil.url.replace('http', 'ws')], onHead });
        }
      },
    };
    const wake = (...names: string[]) => worker?.wake(...names);
    const deliver = () => Promise.reject(new Error('no webhook is sent here'));
    const tasks = createWorkerTasks(settlementParts(store, external, { deliver, wake }));
    const payments = await createPayments(chain, store, count);
    const watching = tasks.watching.filter(({ name }) => name === 'watch');
    worker = startWorker([...watching, ...tasks.sending], (name, error) => {
      process.stderr.write(`${name}: ${String(error)}\n`);
    });
    // The first pass sets the cursor; earlier blocks are not scanned.
    await until(async () => (await store.observations.readCursor()) ?? undefined, 'the watcher has begun');
    const timed: TimedPayment[] = [];
    for (const [index, payment] of payments.entries()) {
      // Varies the moment between two blocks and two polls.
      await delay((index * 373) % (BLOCK_SECONDS * 1000));
      timed.push(await timeOne({ chain, store, blocks }, payment));
    }
    await tasks.drain();
    return timed;
  } finally {
    await worker?.stop();
    await (subscription as HeadSubscription | null)?.stop();
    await blocks.stop();
    await closeChainEndpoints(endpoints);
    await store.close();
    await chain.stop();
  }
}

interface TimeContext {
  readonly chain: LocalChain;
  readonly store: Store;
  readonly blocks: ReturnType<typeof startBlocks>;
}

async function timeOne(context: TimeContext, payment: Payment): Promise<TimedPayment> {
  const { chain, store, blocks } = context;
  const hash = await chain.callToken({ name: 'mint', to: payment.depositAddress, units: DEPOSIT_UNITS });
  const depositBlock = await until(async () => {
    const receipt = await chain.anvil.rpc('eth_getTransactionReceipt', [hash]);
    return receipt === null ? undefined : Number((receipt as { blockNumber: string }).blockNumber);
  }, 'the deposit is mined');
  const minedAtMs = await blocks.minedAtMs(depositBlock);
  const paidAtMs = await until(async () => {
    const found = await store.payments.findPaymentById(payment.id);
    return found?.status === 'paid' ? Date.now() : undefined;
  }, 'the payment is paid');
  const finalAtMs = await blocks.minedAtMs(depositBlock + 1 + FINAL_AFTER_BLOCKS);
  return { paidAfterMs: paidAtMs - minedAtMs, floorMs: finalAtMs - minedAtMs };
}

/** Mines a block every two seconds, and records its time. */
function startBlocks({ anvil }: LocalChain) {
  const times = new Map<number, number>();
  const stopping = new AbortController();
  const running = (async () => {
    let dueAtMs = performance.now();
    while (!stopping.signal.aborted) {
      await anvil.rpc('evm_mine');
      const minedAtMs = Date.now();
      times.set(await anvil.blockNumber(), minedAtMs);
      dueAtMs += BLOCK_SECONDS * 1000;
      await delay(Math.max(0, dueAtMs - performance.now()), undefined, { signal: stopping.signal }).catch(
        () => undefined,
      );
    }
  })();
  return {
    minedAtMs: (block: number) => until(async () => times.get(block), `block ${block} is made`),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Polls until `look` returns a result. */
async function until<Found>(look: () => Promise<Found | undefined>, what: string): Promise<Found> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`in vain until ${what}`);
    await delay(LOOK_MS);
  }
}
