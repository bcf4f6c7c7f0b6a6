import { createLease, withFreeLease } from '../../../src/app/leases.ts';
import type { WorkerParts, WorkerTask } from '../../../src/app/worker-parts.ts';
import { createWorkerTasks } from '../../../src/app/worker-tasks.ts';
import type { LeaseStore } from '../../../src/settlement/settlement-store.ts';
import type { ProcessLife } from './process-life.ts';
import type { SimulatedWorld } from './simulated-world.ts';

/** The tasks of one process, as src/app/worker.ts gives them out: under leases where others may do them too. */
export interface InstanceTasks {
  readonly all: readonly WorkerTask[];
  /** What keeps the leases; nothing where the process is alone. */
  readonly renewals: readonly WorkerTask[];
  /** Which of them have done something since they were last taken from here. */
  readonly ran: Set<string>;
  drain(): Promise<void>;
}

const senderOf = (relayer: string) => `sender ${relayer}`;

export function createInstanceTasks(
  world: SimulatedWorld,
  life: ProcessLife,
  parts: Omit<WorkerParts, 'withRelayerLease'>,
): InstanceTasks {
  const ran = new Set<string>();
  const noted = (task: WorkerTask): WorkerTask => ({
    ...task,
    run(signal) {
      ran.add(task.name);
      return task.run(signal);
    },
  });
  if (parts.store.shared === null) {
    const tasks = createWorkerTasks({ ...parts, withRelayerLease: (_, follow) => follow() });
    const all = [...tasks.watching, ...tasks.sending, ...tasks.shared].map(noted);
    return { all, renewals: [], ran, drain: tasks.drain };
  }
  const holder = world.draws.hex(16);
  const leases: LeaseStore = {
    takeLease: (...request) => life.pass('takeLease', () => world.leases.takeLease(...request)),
    releaseLease: (...request) => life.pass('releaseLease', () => world.leases.releaseLease(...request)),
  };
  const tasks = createWorkerTasks({
    ...parts,
    withRelayerLease: (relayer, follow) => withFreeLease(leases, senderOf(relayer), holder, follow),
  });
  const leaseFor = (name: string) =>
    createLease({
      leases,
      name,
      holder,
      monotonicMs: parts.monotonicMs,
      onAcquired: () => world.recorder.fault('lease taken'),
      onFailure: (error) => {
        throw error;
      },
    });
  const watcher = leaseFor('watcher');
  const sender = leaseFor(senderOf(parts.external.relayers[0].address));
  return {
    all: [
      ...tasks.watching.map(noted).map((task) => watcher.whileHeld(task)),
      ...tasks.sending.map(noted).map((task) => sender.whileHeld(task)),
      ...tasks.shared.map(noted),
    ],
    renewals: [watcher.renewal, sender.renewal],
    ran,
    drain: tasks.drain,
  };
}
