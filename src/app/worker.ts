import { randomUUID } from 'node:crypto';
import { trace } from '../platform/tracing.ts';
import { ChainUnavailableError } from '../settlement/chain/chain.ts';
import { reachedByTwo } from '../settlement/chain/endpoint-rotation.ts';
import type { SharedStore } from '../store/assemble-core.ts';
import { deliverWebhook } from '../webhooks/deliver.ts';
import { createLease, withFreeLease } from './leases.ts';
import type { ServiceParts } from './service-parts.ts';
import type { WorkerParts, WorkerTask } from './worker-parts.ts';
import { createWorkerTasks, reportAbandoned, type WorkerTasks } from './worker-tasks.ts';

const WATCHER = 'watcher';
const senderOf = (relayer: string) => `sender ${relayer}`;

export async function startWork(parts: ServiceParts) {
  const { store, log, metrics } = parts;
  const { shared } = store;
  // Only this process uses the store, and it has just started, so a crash has interrupted every `sending` webhook.
  if (shared === null)
    reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(Number.MAX_SAFE_INTEGER));

  const holder = randomUUID();
  const wake = (...names: string[]) => worker.wake(...names);
  const workerParts: WorkerParts = {
    ...parts,
    ...parts.requestContext,
    deliver(delivery) {
      parts.additions?.onDelivery(delivery);
      return deliverWebhook(parts.deliveryRulesOf(delivery.url), delivery);
    },
    wake,
    async withRelayerLease(relayer, follow) {
      // The sender of that key follows its batches, in this process or in another one with the same key.
      if (parts.external.relayers.some(({ address }) => address === relayer)) return;
      if (shared === null) await follow();
      else await withFreeLease(shared.leases, senderOf(relayer), holder, follow);
    },
  };
  const tasks = createWorkerTasks(workerParts);
  const { own, leases } =
    shared === null
      ? { own: [...tasks.watching, ...tasks.sending, ...tasks.shared], leases: [] }
      : clustered(shared, holder, parts, tasks, wake);
  metrics.beginTasks(own);
  const worker: Worker = startWorker(afterRestore(own, workerParts), (name, error, failuresInARow) => {
    metrics.taskFailures.inc({ task: name });
    log.warn({ err: error, task: name, failuresInARow }, 'a task failed and is retried');
  });
  return {
    /** Waits for running steps and open deliveries, each within its own deadline. */
    async stop(): Promise<void> {
      await worker.stop();
      await Promise.all([tasks.drain(), ...leases.map((lease) => lease.release())]);
    },
  };
}

/** Creates the tasks and leases of one process among several. An exclusive task runs where its lease is held. */
function clustered(
  { leases }: SharedStore,
  holder: string,
  { clock, log, metrics }: ServiceParts,
  { watching, sending, shared: unleased }: WorkerTasks,
  wake: (...names: string[]) => void,
) {
  const leaseFor = (name: string, tasks: readonly WorkerTask[]) =>
    createLease({
      leases,
      name,
      holder,
      monotonicMs: clock.monotonicMs,
      onAcquired() {
        log.info({ lease: name }, 'taken');
        wake(...tasks.map((task) => task.name));
      },
      onFailure: (error) => log.warn({ err: error, lease: name }, 'could not be renewed'),
    });
  const watcher = leaseFor(WATCHER, watching);
  /** Resets the metrics while another process watches the chain. Stale values would look like a halted chain. */
  const forgetWatched = () => {
    metrics.scannedBlock.set(0);
    metrics.latestBlock.set(0);
  };
  const senders = sending.map((task) => ({ task, lease: leaseFor(senderOf(task.relayer), [task]) }));
  return {
    own: [
      watcher.renewal,
      ...watching.map((task) => watcher.whileHeld(task, forgetWatched)),
      ...senders.flatMap(({ task, lease }) => [lease.renewal, lease.whileHeld(task)]),
      ...unleased,
    ],
    leases: [watcher, ...senders.map(({ lease }) => lease)],
  };
}

/** Maximum difference in blocks between two endpoints. A larger one means that an endpoint lags or reports falsely. */
const MAXIMUM_LAG_BLOCKS = 100;

/** Records the chain's height when a restored database is first served. Events up to that height may have been sent. */
async function recordRestore({ store, external: { chain }, nowMs, expiryMs, log }: WorkerParts) {
  if (!(await store.restores.isPending())) return;
  const heights = await chain.withEachView(async (view) => (await view.readLatest()).number);
  if (heights.length < Math.min(2, chain.listEndpoints().length))
    throw new ChainUnavailableError('only one endpoint says how high the chain is');
  const block = reachedByTwo(heights);
  if (heights.length === 2 && Math.max(...heights) - block > MAXIMUM_LAG_BLOCKS)
    throw new ChainUnavailableError('two endpoints disagree about how high the chain is');
  await store.restores.recordHeight(block, nowMs() - expiryMs);
  log.warn({ block }, 'the database was restored: what was due by this block is not sent again');
}

/** Delays tasks until a restore is recorded, so that they neither send nor release anything before then. */
export function afterRestore(tasks: readonly WorkerTask[], parts: WorkerParts): WorkerTask[] {
  let recorded: Promise<void> | null = null;
  return tasks.map((task) => ({
    ...task,
    async run(signal) {
      // Checks again, because the database of a running service can be marked as restored, too.
      if (task.name === 'watch') recorded = null;
      recorded ??= recordRestore(parts);
      await recorded.catch((error) => {
        recorded = null;
        throw error;
      });
      return task.run(signal);
    },
  }));
}

export type Worker = ReturnType<typeof startWorker>;

/** Maximum factor by which failures lengthen the interval. Each consecutive failure doubles the factor. */
const MAXIMUM_BACKOFF = 32;
/** Maximum pause after failures, unless the task's own interval is longer. */
const MAXIMUM_BACKOFF_MS = 60_000;

/** Runs each task in a loop, one step at a time. A failing step is reported and does not end the loop. */
export function startWorker(
  tasks: readonly WorkerTask[],
  onFailure: (name: string, error: unknown, failuresInARow: number) => void,
) {
  const loops = tasks.map((task) => ({ task, pause: new AbortController(), isFailing: false }));
  const stopping = new AbortController();

  async function run(loop: (typeof loops)[number]): Promise<void> {
    const { task } = loop;
    let failures = 0;
    while (!stopping.signal.aborted) {
      let hasMore: boolean | undefined = false;
      try {
        hasMore = await trace(`task ${task.name}`, { isIdle: true }, () => task.run(stopping.signal));
        failures = 0;
      } catch (error) {
        failures++;
        onFailure(task.name, error, failures);
      }
      if (hasMore || stopping.signal.aborted) continue;
      // After a failure, the loop ignores wake-ups, so that they do not undo the backoff.
      loop.isFailing = failures > 0;
      if (loop.isFailing) loop.pause = new AbortController();
      const growingMs = task.intervalMs * Math.min(2 ** failures, MAXIMUM_BACKOFF);
      const pauseMs = Math.max(task.intervalMs, Math.min(growingMs, MAXIMUM_BACKOFF_MS));
      await elapse(pauseMs, loop.pause);
      loop.pause = new AbortController();
      loop.isFailing = false;
    }
  }

  const ended = loops.map(run);
  return {
    wake(...names: string[]): void {
      for (const { task, pause, isFailing } of loops)
        if (names.includes(task.name) && !isFailing) pause.abort();
    },
    /** Ends all loops once their running steps have finished. */
    async stop(): Promise<void> {
      stopping.abort();
      for (const { pause } of loops) pause.abort();
      await Promise.all(ended);
    },
  };
}

async function elapse(durationMs: number, { signal }: AbortController): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  signal.addEventListener('abort', () => resolve());
  await promise;
  clearTimeout(timer);
}
