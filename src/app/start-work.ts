import { randomUUID } from 'node:crypto';
import type { SharedStore } from '../store/assemble-core.ts';
import type { DeliverWebhook } from '../webhooks/delivery-types.ts';
import { afterRestore } from './after-restore.ts';
import { createLease, withFreeLease } from './leases.ts';
import type { ServiceParts } from './service-parts.ts';
import { startWorker, type Worker } from './worker.ts';
import type { WorkerParts, WorkerTask } from './worker-parts.ts';
import { createWorkerTasks, reportAbandoned, type WorkerTasks } from './worker-tasks.ts';

const WATCHER = 'watcher';
const senderOf = (relayer: string) => `sender ${relayer}`;

export async function startWork(parts: ServiceParts, deliver: DeliverWebhook) {
  const { store, log, metrics } = parts;
  const { shared } = store;
  // No other process uses the store and this one has just started, so a crash has cut off every `sending` webhook.
  if (shared === null)
    reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(Number.MAX_SAFE_INTEGER));

  const holder = randomUUID();
  const wake = (...names: string[]) => worker.wake(...names);
  const workerParts: WorkerParts = {
    ...parts,
    ...parts.requestContext,
    deliver,
    wake,
    async withRelayerLease(relayer, follow) {
      // The sender of that key follows its batches, in this process or in another one with the same keys.
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
    /** Lets running steps and open deliveries finish, within their own deadlines. */
    async stop(): Promise<void> {
      await worker.stop();
      await Promise.all([tasks.drain(), ...leases.map((lease) => lease.release())]);
    },
  };
}

/** Tasks and leases of one process among several. An exclusive task runs in the process that holds its lease. */
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
  /** While another process watches the chain, stale values would look like a halted chain. */
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
