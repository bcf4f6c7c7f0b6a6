import { performance } from 'node:perf_hooks';
import { type IndexPaymentsContext, indexPayments, PAYMENTS_AT_A_TIME } from '../payments/index-payments.ts';
import type { WorkerTask } from '../worker.ts';
import { pauseBetweenPortions } from './pause-between-portions.ts';

/** Between two looks. */
const INTERVAL_MS = 500;
/** The share of its time that the event loop works, from which on it counts as busy. */
const BUSY_UTILIZATION = 0.7;
/** Of one step then, and the pause behind it: a full step holds all requests up for some 15 ms, such a small one for 2. */
const PAYMENTS_WHILE_BUSY = 20;
const PAUSE_WHILE_BUSY_MS = 100;

/**
 * Makes what lists, searches and statistics rest on. Those may come later, a create may not: under full load it took a
 * sixth of the thread, so then it goes on at a fraction of its pace and makes up for it afterwards.
 */
export function createIndexTask(
  store: IndexPaymentsContext,
  readUtilization = createUtilizationReader(),
): WorkerTask {
  return {
    name: 'index',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      const isBusy = readUtilization() >= BUSY_UTILIZATION;
      const hasMore = await indexPayments(store, isBusy ? PAYMENTS_WHILE_BUSY : PAYMENTS_AT_A_TIME);
      if (!hasMore) return false;
      await pauseBetweenPortions(signal, isBusy ? PAUSE_WHILE_BUSY_MS : undefined);
      return true;
    },
  };
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
