import type { LeaseStore } from '../settlement/settlement-store.ts';
import type { WorkerTask } from './worker-parts.ts';

/** Duration of a lease. A killed holder is replaced within `DURATION_MS + RENEWAL_MS`, less than ten seconds. */
const DURATION_MS = 6_000;
const RENEWAL_MS = 1_500;

interface LeaseOptions {
  readonly leases: LeaseStore;
  readonly name: string;
  /** Distinguishes this process from all others on the same data. */
  readonly holder: string;
  readonly monotonicMs: () => number;
  /** Called when this process acquires the lease, so that pending work can start. */
  readonly onAcquired: () => void;
  /** Called when a renewal fails. The renewal is retried. */
  readonly onFailure: (error: unknown) => void;
}

/** Runs `work` under a lease, unless another process holds it. The work must end before the lease expires. */
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

/** Creates a lease for tasks that run in one process at a time. The lease saves work; the store prevents duplicates. */
export function createLease({ leases, name, holder, monotonicMs, onAcquired, onFailure }: LeaseOptions) {
  let heldUntilMs = Number.NEGATIVE_INFINITY;
  let isElsewhere = false;
  const isHeld = () => monotonicMs() < heldUntilMs;

  async function renew(): Promise<void> {
    const wasHeld = isHeld();
    // Read before the request, so that the lease ends here earlier than in the store.
    const askedAtMs = monotonicMs();
    const isAcquired = await leases.takeLease(name, holder, DURATION_MS);
    isElsewhere = !isAcquired;
    heldUntilMs = isAcquired ? askedAtMs + DURATION_MS : Number.NEGATIVE_INFINITY;
    if (isAcquired && !wasHeld) onAcquired();
  }

  /** Task that acquires and renews the lease, independently of the tasks that run under it. */
  const renewal: WorkerTask = {
    name: `lease ${name}`,
    intervalMs: RENEWAL_MS,
    async run() {
      // Catches errors here, because a failing task is retried with backoff.
      await renew().catch(onFailure);
      return false;
    },
  };
  return {
    renewal,
    /** Runs the task while this process holds the lease, and calls `elsewhere` while another process holds it. */
    whileHeld: (task: WorkerTask, elsewhere: () => void = () => {}): WorkerTask => ({
      ...task,
      async run(signal) {
        if (isHeld()) return task.run(signal);
        if (isElsewhere) elsewhere();
        return false;
      },
    }),
    /** Releases the lease for another process. If that fails, the lease expires. */
    release: () => leases.releaseLease(name, holder).catch(onFailure),
  };
}
