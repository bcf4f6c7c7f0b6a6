import type { LeaseStore } from '../domain/ports/lease-store.ts';
import type { WorkerTask } from '../worker.ts';

/** A holder that is killed is succeeded within the sum of both, which has to stay below ten seconds. */
const DURATION_MS = 6_000;
const RENEWAL_MS = 1_500;

/** The right to do something that one process at a time should do. */
export interface Lease {
  /** Takes the lease when it is free and keeps it from ending; runs beside the tasks that need it. */
  readonly renewal: WorkerTask;
  /** The same task, which does nothing while another process has the lease. */
  whileHeld(task: WorkerTask): WorkerTask;
  /** Lets another process have it at once. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  readonly leases: LeaseStore;
  readonly name: string;
  /** Names this process among all. */
  readonly holder: string;
  readonly monotonicMs: () => number;
  /** Told when this process gets the lease; work that was left undone may begin. */
  readonly onTaken: () => void;
  /** Told when the lease could not be renewed; it is tried again. */
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
 * A lease only saves work and noise: a step that began with it may end after it. What must not happen twice is
 * refused by the store itself (the watcher's cursor, the relayer's one open batch, the claim of a webhook).
 */
export function createLease(options: LeaseOptions): Lease {
  const { leases, name, holder, monotonicMs, onTaken, onFailure } = options;
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  const isHeld = () => monotonicMs() < heldUntilMs;

  async function renew(): Promise<void> {
    const wasHeld = isHeld();
    // Counted from before the request, so that it ends here before it ends in the store.
    const askedAtMs = monotonicMs();
    const isTaken = await leases.takeLease(name, holder, DURATION_MS);
    heldUntilMs = isTaken ? askedAtMs + DURATION_MS : Number.NEGATIVE_INFINITY;
    if (isTaken && !wasHeld) onTaken();
  }

  return {
    renewal: {
      name: `lease ${name}`,
      intervalMs: RENEWAL_MS,
      async run() {
        // Caught here, because a task that fails is tried again ever more rarely.
        await renew().catch(onFailure);
        return false;
      },
    },
    whileHeld: (task) => ({ ...task, run: async (signal) => isHeld() && task.run(signal) }),
    // What cannot be given back ends by itself.
    release: () => leases.releaseLease(name, holder).catch(onFailure),
  };
}
