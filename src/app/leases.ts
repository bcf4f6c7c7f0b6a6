import type { LeaseStore } from '../settlement/settlement-store.ts';
import type { WorkerTask } from './worker-parts.ts';

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
