import { performance } from 'node:perf_hooks';
import { type IndexPaymentsContext, indexPayments, PAYMENTS_AT_A_TIME } from '../payments/index-payments.ts';
import type { WorkerTask } from '../worker.ts';
import { pauseBetweenPortions } from './pause-between-portions.ts';

/** Between two looks. */
const INTERVAL_MS = 500;
/** What one step takes, and the pause behind it. */
interface Pace {
  /** The share of its time that the event loop works, from which on this holds. */
  readonly utilization: number;
  readonly payments: number;
  readonly pauseMs: number | undefined;
}

/** A full step holds all requests up for some 15 ms, a small one for 2. */
const paces = [
  { utilization: 0.95, payments: 20, pauseMs: 1_000 },
  { utilization: 0.7, payments: 20, pauseMs: 100 },
  { utilization: 0, payments: PAYMENTS_AT_A_TIME, pauseMs: undefined },
] as const satisfies readonly Pace[];

/**
 * Makes what lists, searches and statistics rest on. Those may come later, a create may not: under full load it took a
 * sixth of the thread, so then it goes on at a fraction of its pace and makes up for it afterwards. Its rows lie all over
 * their tables, so even ten small steps a second cost a saturated service one create in twenty.
 */
export function createIndexTask(
  store: IndexPaymentsContext,
  readUtilization = createUtilizationReader(),
): WorkerTask {
  return {
    name: 'index',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      const { payments, pauseMs } = paceAt(readUtilization());
      const hasMore = await indexPayments(store, payments);
      if (!hasMore) return false;
      await pauseBetweenPortions(signal, pauseMs);
      return true;
    },
  };
}

function paceAt(now: number): Pace {
  return paces.find(({ utilization }) => now >= utilization) ?? paces[2];
}

/** Reads the share of its time that this thread's event loop worked since the last reading, 0 to 1. */
function createUtilizationReader(): () => number {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
}
