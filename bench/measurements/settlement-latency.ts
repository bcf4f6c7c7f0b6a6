import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createWorkerTasks } from '../../src/app/worker-tasks.ts';
import { closeChainEndpoints } from '../../src/chain/endpoint-rotation.ts';
import { type HeadSubscription, subscribeToHeads } from '../../src/chain/subscribe-to-heads.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { DeliverWebhook } from '../../src/domain/ports/callback-guard.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createHostResolver, createOwnAddresses } from '../../src/webhooks/callback-host.ts';
import { deliverWebhook } from '../../src/webhooks/deliver.ts';
import { startWorker, type Worker } from '../../src/worker.ts';
import { type LocalChain, startLocalChain } from '../../test/chain/local-chain.ts';
import { createTestCertificateAuthority } from '../../test/support/certificates.ts';
import { benchAccount } from '../bench-payment.ts';
import { answerDnsHere } from '../servers/answer-dns-here.ts';
import type { Series } from './measurement.ts';
import {
  BLOCK_SECONDS,
  countCalls,
  createPayments,
  DEPOSIT_UNITS,
  FINAL_AFTER_BLOCKS,
  settlementParts,
  settlementWorld,
} from './settlement-world.ts';

const PATIENCE_MS = 60_000;
/** How often the store is asked whether a payment is paid: the figures are too high by at most this. */
const LOOK_MS = 10;
/** As in live mode. */
const intervals = { watchIntervalMs: 1_000, quietWatchIntervalMs: 4_000, idleWatchIntervalMs: 45_000 };

/** How long one payment took. */
interface TimedPayment {
  readonly paidAfterMs: number;
  /** The next block, and the blocks until that one is final: no release can be final earlier. */
  readonly floorMs: number;
  readonly webhookAfterMs: number;
  readonly calls: number;
}

/**
 * Payments one after the other: from the block with the deposit to `paid`, and from there to the webhook at a receiver
 * with TLS. The worker's own watcher, sender and webhook task work as in live mode, in a process with the receiver, with
 * one endpoint and one relayer key. Each deposit is within a minute of the release before, so that the watcher polls
 * each second; where blocks are announced, polling decides nothing.
 */
export async function measureLatency(payments: number, folder: string): Promise<readonly Series[]> {
  const series: Series[] = [];
  for (const isAnnounced of [true, false]) {
    const name = `one payment, blocks ${isAnnounced ? 'announced' : 'polled'}`;
    const timed = await timePayments(payments, isAnnounced, join(folder, `${name}.sqlite`));
    const add = (what: string, unit: string, of: (payment: TimedPayment) => number) =>
      series.push({ name: `${name}: ${what}`, unit, values: timed.map(of) });
    add('deposit mined to paid', 's', ({ paidAfterMs }) => paidAfterMs / 1000);
    add(
      'deposit mined to paid, of the floor',
      'times as long',
      ({ paidAfterMs, floorMs }) => paidAfterMs / floorMs,
    );
    add('paid to webhook received', 's', ({ webhookAfterMs }) => webhookAfterMs / 1000);
    add('RPC calls from deposit to webhook', 'a payment', ({ calls }) => calls);
  }
  return series;
}

async function timePayments(count: number, isAnnounced: boolean, file: string): Promise<TimedPayment[]> {
  const chain = await startLocalChain({ mining: 'manual' });
  const store = await openSqliteStore({ file });
  const { endpoints, count: countedCalls } = countCalls(chain);
  const blocks = startBlocks(chain);
  const receiver = await startReceiver();
  let subscription: HeadSubscription | null = null;
  let worker: Worker | null = null;
  try {
    await store.accounts.createAccount(benchAccount());
    const world = settlementWorld(chain, endpoints, 1);
    const external = {
      ...world,
      intervals: { ...world.intervals, ...intervals, finalityIntervalMs: 60_000 },
      subscribeToHeads(onHead: () => void) {
        if (isAnnounced) {
          subscription = subscribeToHeads({ urls: [chain.anvil.url.replace('http', 'ws')], onHead });
        }
      },
    };
    const wake = (...names: string[]) => worker?.wake(...names);
    const tasks = createWorkerTasks(settlementParts(store, external, { deliver: receiver.deliver, wake }));
    const payments = await createPayments(chain, store, count);
    const own = [...tasks.watching, ...tasks.shared].filter(({ name }) => /^(?:watch|webhooks)$/.test(name));
    worker = startWorker([...own, ...tasks.sending], (name, error) => {
      process.stderr.write(`${name}: ${String(error)}\n`);
    });
    // The first pass sets the cursor; what comes before it is not seen.
    await until(async () => (await store.observations.readCursor()) ?? undefined, 'the watcher has begun');
    const timed: TimedPayment[] = [];
    for (const [index, payment] of payments.entries()) {
      // Not always in the same moment between two blocks and two polls.
      await delay((index * 373) % (BLOCK_SECONDS * 1000));
      timed.push(await timeOne({ chain, store, blocks, receiver, countedCalls }, payment));
    }
    await tasks.drain();
    return timed;
  } finally {
    await worker?.stop();
    await (subscription as HeadSubscription | null)?.stop();
    await blocks.stop();
    receiver.stop();
    await closeChainEndpoints(endpoints);
    await store.close();
    await chain.stop();
  }
}

interface TimeContext {
  readonly chain: LocalChain;
  readonly store: Store;
  readonly blocks: ReturnType<typeof startBlocks>;
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly countedCalls: () => number;
}

async function timeOne(context: TimeContext, payment: Payment): Promise<TimedPayment> {
  const { chain, store, blocks, receiver, countedCalls } = context;
  const hash = await chain.callToken({ name: 'mint', to: payment.depositAddress, units: DEPOSIT_UNITS });
  const depositBlock = await until(async () => {
    const receipt = await chain.anvil.rpc('eth_getTransactionReceipt', [hash]);
    return receipt === null ? undefined : Number((receipt as { blockNumber: string }).blockNumber);
  }, 'the deposit is mined');
  const minedAtMs = await blocks.minedAtMs(depositBlock);
  const callsBefore = countedCalls();
  const paidAtMs = await until(async () => {
    const found = await store.payments.findPaymentById(payment.id);
    return found?.status === 'paid' ? { seenMs: Date.now(), decidedMs: Number(found.paidAtMs) } : undefined;
  }, 'the payment is paid');
  const receivedAtMs = await until(async () => receiver.receivedAtMs.get(payment.id), 'the webhook arrives');
  const finalAtMs = await blocks.minedAtMs(depositBlock + 1 + FINAL_AFTER_BLOCKS);
  return {
    paidAfterMs: paidAtMs.seenMs - minedAtMs,
    floorMs: finalAtMs - minedAtMs,
    // From the decision, before its commit.
    webhookAfterMs: receivedAtMs - paidAtMs.decidedMs,
    calls: countedCalls() - callsBefore,
  };
}

/** Makes a block every two seconds, and remembers when each was there. */
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

/** A merchant's endpoint with TLS, and the service's own delivery to it. */
async function startReceiver() {
  answerDnsHere();
  const authority = await createTestCertificateAuthority();
  const { certPem, keyPem } = await authority.issue({ names: ['shop.example.com'] });
  const receivedAtMs = new Map<string, number>();
  const server = createServer({ cert: certPem, key: keyPem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { paymentId } = JSON.parse(Buffer.concat(chunks).toString()) as { paymentId: string };
    receivedAtMs.set(paymentId, Date.now());
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const resolver = createHostResolver({ timeoutMs: 1_500, cacheTtlMs: 60_000, cacheMaxEntries: 100 });
  const delivery = {
    resolver,
    ownAddresses: createOwnAddresses(),
    own: null,
    allowedHosts: new Set<string>(),
    ca: authority.caPem,
    connectTo: () => ({ address: '127.0.0.1', port }),
  };
  const deliver: DeliverWebhook = (webhook) => deliverWebhook(delivery, webhook);
  return {
    receivedAtMs,
    deliver,
    stop() {
      resolver.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What `look` finds as soon as it finds something. */
async function until<Found>(look: () => Promise<Found | undefined>, what: string): Promise<Found> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`in vain until ${what}`);
    await delay(LOOK_MS);
  }
}
