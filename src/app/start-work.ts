import { randomUUID } from 'node:crypto';
import type { LeaseStore } from '../settlement/settlement-store.ts';
import type { SharedStore } from '../store/store.ts';
import type { DeliverWebhook } from '../webhooks/delivery-types.ts';
import { forgetWatched } from './metrics.ts';
import type { ServiceParts } from './service-parts.ts';
import type { Worker, WorkerTask } from './worker-parts.ts';
import { createWorkerTasks, reportAbandoned, type WorkerTasks } from './worker-tasks.ts';

const WATCHER = 'watcher';
const senderOf = (relayer: string) => `sender ${relayer}`;

export async function startWork(parts: ServiceParts, deliver: DeliverWebhook) {
  const { store, log, metrics } = parts;
  const { shared } = store;
  // This only process of the store has just started, so every `sending` webhook was cut off by a crash.
  if (shared === null)
    reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(Number.MAX_SAFE_INTEGER));

  // Identifies this process among all with the same data.
  const holder = randomUUID();
  const wake = (...names: string[]) => worker.wake(...names);
  const tasks = createWorkerTasks({
    ...parts,
    ...parts.requestContext,
    deliver,
    wake,
    async withRelayerLease(relayer, follow) {
      // The key's own sender follows its batches, here or in another process with the same keys.
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
    /** Lets running steps and open deliveries finish, within their own deadlines. */
    async stop(): Promise<void> {
      await worker.stop();
      await Promise.all([tasks.drain(), ...leases.map((lease) => lease.release())]);
    },
  };
}

/** Tasks and leases of one process among several; exclusive tasks run in their lease's holder. */
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

/** A killed holder is replaced within the sum of both, which must stay below ten seconds. */
const DURATION_MS = 6_000;
const RENEWAL_MS = 1_500;

interface LeaseOptions {
  readonly leases: LeaseStore;
  readonly name: string;
  /** Identifies this process among all with the same data. */
  readonly holder: string;
  readonly monotonicMs: () => number;
  /** Called when this process gets the lease; pending work may start. */
  readonly onAcquired: () => void;
  /** Called when the lease could not be renewed; it is retried. */
  readonly onFailure: (error: unknown) => void;
}

/** Runs `work` while holding a lease, if it is free; the work must fit into its duration. */
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
 * A lease for tasks that one process at a time should run. It only saves work and noise, because a step may outlast it.
 * The store itself prevents duplicates (the watcher's cursor, a relayer's nonce, the claim of a webhook).
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

  /** Takes the lease when it is free and renews it, beside the tasks that need it. */
  const renewal: WorkerTask = {
    name: `lease ${name}`,
    intervalMs: RENEWAL_MS,
    async run() {
      // Caught here, because failing tasks are retried with growing pauses.
      await renew().catch(onFailure);
      return false;
    },
  };
  return {
    renewal,
    /** The task, replaced by `elsewhere` while another process has the lease. */
    whileHeld: (task: WorkerTask, elsewhere: () => void = () => {}): WorkerTask => ({
      ...task,
      async run(signal) {
        if (isHeld()) return task.run(signal);
        if (isElsewhere) elsewhere();
        return false;
      },
    }),
    /** Releases the lease for another process; if that fails, it expires. */
    release: () => leases.releaseLease(name, holder).catch(onFailure),
  };
}

/** Maximum factor of the interval after failures, which double it… */
const MAXIMUM_BACKOFF = 32;
/** …up to a minute, unless the interval itself is longer. */
const MAXIMUM_BACKOFF_MS = 60_000;

/** Runs every task in its own loop, one step at a time. A failing step is reported and never ends a loop. */
export function startWorker(
  tasks: readonly WorkerTask[],
  onFailure: (name: string, error: unknown, failuresInARow: number) => void,
): Worker {
  // Several tasks may share a name.
  const wakeSignals = tasks.map(({ name }) => ({ name, signal: createWakeSignal() }));
  const stopping = new AbortController();

  async function loop(task: WorkerTask, wakeSignal: WakeSignal): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      let hasMore: boolean | undefined = false;
      try {
        hasMore = await task.run(stopping.signal);
        failures = 0;
      } catch (error) {
        failures++;
        onFailure(task.name, error, failures);
      }
      if (hasMore || stopping.signal.aborted) continue;
      await wakeSignal.wait(pauseMs(task.intervalMs, failures), failures > 0);
    }
  }

  const loops = tasks.map((task, index) =>
    loop(task, (wakeSignals[index] as (typeof wakeSignals)[number]).signal),
  );
  return {
    wake(...names) {
      for (const { name, signal } of wakeSignals) if (names.includes(name)) signal.wake();
    },
    async stop() {
      stopping.abort();
      for (const { signal } of wakeSignals) signal.end();
      await Promise.all(loops);
    },
  };
}

function pauseMs(intervalMs: number, failuresInARow: number): number {
  const growing = intervalMs * Math.min(2 ** failuresInARow, MAXIMUM_BACKOFF);
  return Math.max(intervalMs, Math.min(growing, MAXIMUM_BACKOFF_MS));
}

type WakeSignal = ReturnType<typeof createWakeSignal>;

function createWakeSignal() {
  let wasWoken = false;
  let isListening = false;
  let endWait: (() => void) | null = null;
  return {
    wake() {
      wasWoken = true;
      if (isListening) endWait?.();
    },
    /** Ends any wait. */
    end() {
      wasWoken = true;
      endWait?.();
    },
    /**
     * Resolves after `timeoutMs`, or at once when woken during or before the wait. After a failure it ignores wake-ups,
     * so that repeated announcements do not undo the growing pauses.
     */
    async wait(timeoutMs: number, ignoreWake: boolean): Promise<void> {
      isListening = !ignoreWake;
      if (ignoreWake || !wasWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      endWait = null;
      wasWoken = false;
    },
  };
}
