import { randomUUID } from 'node:crypto';
import type { LeaseStore } from '../settlement/settlement-store.ts';
import type { SharedStore } from '../store/store.ts';
import type { DeliverWebhook } from '../webhooks/callback-guard.ts';
import { forgetWatched } from './metrics.ts';
import type { ServiceParts } from './service-parts.ts';
import { startWorker, type Worker, type WorkerTask } from './worker.ts';
import { createWorkerTasks, reportAbandoned, type WorkerTasks } from './worker-tasks.ts';

const WATCHER = 'watcher';
const senderOf = (relayer: string) => `sender ${relayer}`;

/** Starts what goes on by itself. */
export async function startWork(parts: ServiceParts, deliver: DeliverWebhook) {
  const { store, log, metrics } = parts;
  const { shared } = store;
  // The store's only process has just begun: whatever is still `sending` was cut off by a crash, whenever that was.
  if (shared === null)
    reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(Number.MAX_SAFE_INTEGER));

  // Names this process among all.
  const holder = randomUUID();
  const wake = (...names: string[]) => worker.wake(...names);
  const tasks = createWorkerTasks({
    ...parts,
    ...parts.requestContext,
    deliver,
    wake,
    async withRelayerLease(relayer, follow) {
      // Its own sender follows it, here or in another process with the same keys.
      if (parts.external.relayers.some(({ address }) => address === relayer)) return;
      if (shared === null) await follow();
      else await withFreeLease(shared.leases, senderOf(relayer), holder, follow);
    },
  });
  const { own, leases } =
    shared === null
      ? { own: [...tasks.watching, ...tasks.sending, ...tasks.shared], leases: [] }
      : clustered(shared, holder, parts, tasks, wake);
  metrics.beginTasks(own);
  const worker: Worker = startWorker(own, (name, error, failuresInARow) => {
    metrics.taskFailures.inc({ task: name });
    log.warn({ err: error, task: name, failuresInARow }, 'a task failed and is retried');
  });
  return {
    /** Lets the running steps and open deliveries finish, which end within their own deadlines. */
    async stop(): Promise<void> {
      await worker.stop();
      await Promise.all([tasks.drain(), ...leases.map((lease) => lease.release())]);
    },
  };
}

/** The tasks of one process among several, and its leases: a task for only one of them runs in the holder of its lease. */
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
  const senders = sending.map((task) => ({ task, lease: leaseFor(senderOf(task.relayer), [task]) }));
  return {
    own: [
      watcher.renewal,
      ...watching.map((task) => watcher.whileHeld(task, () => forgetWatched(metrics))),
      ...senders.flatMap(({ task, lease }) => [lease.renewal, lease.whileHeld(task)]),
      ...unleased,
    ],
    leases: [watcher, ...senders.map(({ lease }) => lease)],
  };
}

/** A holder that is killed is succeeded within the sum of both, which has to stay below ten seconds. */
const DURATION_MS = 6_000;
const RENEWAL_MS = 1_500;

interface LeaseOptions {
  readonly leases: LeaseStore;
  readonly name: string;
  /** Names this process among all. */
  readonly holder: string;
  readonly monotonicMs: () => number;
  /** Called when this process gets the lease; work that was left undone may begin. */
  readonly onAcquired: () => void;
  /** Called when the lease could not be renewed; it is tried again. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs `work` while holding a lease that is free, and gives it back; does nothing while another process has it. For
 * what is done within its duration.
 */
export async function withFreeLease(
  leases: LeaseStore,
  name: string,
  holder: string,
  work: () => Promise<void>,
): Promise<void> {
  if (!(await leases.takeLease(name, holder, DURATION_MS))) return;
  try {
    await work();
  } finally {
    await leases.releaseLease(name, holder);
  }
}

/**
 * The right to do something that one process at a time should do. It only saves work and noise: a step that began with
 * it may end after it. What must not happen twice is refused by the store itself (the watcher's cursor, a nonce of the
 * relayer, the claim of a webhook).
 */
export function createLease({ leases, name, holder, monotonicMs, onAcquired, onFailure }: LeaseOptions) {
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let isElsewhere = false;
  const isHeld = () => monotonicMs() < heldUntilMs;

  async function renew(): Promise<void> {
    const wasHeld = isHeld();
    // Counted from before the request, so that it ends here before it ends in the store.
    const askedAtMs = monotonicMs();
    const isAcquired = await leases.takeLease(name, holder, DURATION_MS);
    isElsewhere = !isAcquired;
    heldUntilMs = isAcquired ? askedAtMs + DURATION_MS : Number.NEGATIVE_INFINITY;
    if (isAcquired && !wasHeld) onAcquired();
  }

  /** Takes the lease when it is free and keeps it from ending; runs beside the tasks that need it. */
  const renewal: WorkerTask = {
    name: `lease ${name}`,
    intervalMs: RENEWAL_MS,
    async run() {
      // Caught here, because a task that fails is tried again ever more rarely.
      await renew().catch(onFailure);
      return false;
    },
  };
  return {
    renewal,
    /** The same task, which does nothing but `elsewhere` while another process has the lease. */
    whileHeld: (task: WorkerTask, elsewhere: () => void = () => {}): WorkerTask => ({
      ...task,
      async run(signal) {
        if (isHeld()) return task.run(signal);
        if (isElsewhere) elsewhere();
        return false;
      },
    }),
    /** Lets another process have it at once. What cannot be given back ends by itself. */
    release: () => leases.releaseLease(name, holder).catch(onFailure),
  };
}
