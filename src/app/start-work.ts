import { randomUUID } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/ports/clock.ts';
import type { SharedStore } from '../store/store.ts';
import { startWorker, type Worker, type WorkerTask } from '../worker.ts';
import { createLease, type Lease, withFreeLease } from './lease.ts';
import type { WorkerParts } from './worker-parts.ts';
import { createWorkerTasks, reportAbandoned, type WorkerTasks } from './worker-tasks.ts';

/** What the loops of a process are started with. */
export interface WorkOptions
  extends Omit<WorkerParts, 'nowMs' | 'monotonicMs' | 'expiryMs' | 'baseUrl' | 'wake' | 'inPlaceOf'> {
  readonly config: Config;
  readonly clock: Clock;
}

/** The loops of a process. */
export interface Work {
  /** Lets the running steps and open deliveries finish, which end within their own deadlines. */
  stop(): Promise<void>;
}

const WATCHER = 'watcher';
const senderOf = (relayer: string) => `sender ${relayer}`;

/** Starts what goes on by itself. */
export async function startWork(options: WorkOptions): Promise<Work> {
  const { store, clock, log, metrics, config } = options;
  const { shared } = store;
  // The store's only process has just begun: whatever is still `sending` was cut off by a crash, whenever that was.
  if (shared === null)
    reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(Number.MAX_SAFE_INTEGER));

  // Names this process among all.
  const holder = randomUUID();
  const wake = (...names: string[]) => worker.wake(...names);
  const tasks = createWorkerTasks({
    ...options,
    baseUrl: config.baseUrl,
    nowMs: clock.nowMs,
    monotonicMs: clock.monotonicMs,
    expiryMs: config.checkoutExpiryHours * 3_600_000,
    wake,
    inPlaceOf: (relayer, follow) =>
      shared === null ? follow() : withFreeLease(shared.leases, senderOf(relayer), holder, follow),
  });
  const { own, leases } = shared === null ? alone(tasks) : among(shared, holder, options, tasks, wake);
  const worker: Worker = startWorker(own, (name, error, failuresInARow) => {
    metrics.taskFailures.inc({ task: name });
    log.warn({ err: error, task: name, failuresInARow }, 'a step failed and is tried again');
  });
  return {
    async stop() {
      await worker.stop();
      await Promise.all([tasks.drain(), ...leases.map((lease) => lease.release())]);
    },
  };
}

/** What one process does, and the leases under which it does it. */
interface OwnWork {
  readonly own: readonly WorkerTask[];
  readonly leases: readonly Lease[];
}

/** The store's only process does everything. */
function alone({ watching, sending, shared }: WorkerTasks): OwnWork {
  return { own: [...watching, ...sending, ...shared], leases: [] };
}

/** The tasks of one process among several: what one of them should do is done by whoever has the lease. */
function among(
  { leases }: SharedStore,
  holder: string,
  options: WorkOptions,
  { watching, sending, shared: unleased }: WorkerTasks,
  wake: (...names: string[]) => void,
): OwnWork {
  const leaseFor = (name: string, tasks: readonly WorkerTask[]) =>
    createLease({
      ...{ leases, name, holder, monotonicMs: options.clock.monotonicMs },
      onTaken() {
        options.log.info({ lease: name }, 'taken');
        wake(...tasks.map((task) => task.name));
      },
      onFailure: (error) => options.log.warn({ err: error, lease: name }, 'could not be renewed'),
    });
  const watcher = leaseFor(WATCHER, watching);
  const sender = leaseFor(senderOf(options.world.relayer.address), sending);
  return {
    own: [
      ...[watcher.renewal, ...watching.map(watcher.whileHeld)],
      ...[sender.renewal, ...sending.map(sender.whileHeld)],
      ...unleased,
    ],
    leases: [watcher, sender],
  };
}
