import { LRUCache } from 'lru-cache';
import type { PaymentId } from '../domain/payment-id.ts';
import { settleScanned } from '../domain/settle.ts';
import { expirePayments } from '../payments/expire-payments.ts';
import { sweepOpenPayments } from '../payments/sweep-balances.ts';
import { rescanFinalBlocks, type WatchDepositsContext, watchDeposits } from '../payments/watch-deposits.ts';
import type { WorkerTask } from '../worker.ts';
import type { WorkerParts } from './worker-parts.ts';

const EXPIRY_INTERVAL_MS = 10_000;

/** Pause between two portions of a sweep, which would otherwise delay the API. */
const SWEEP_PORTION_INTERVAL_MS = 1_000;

/** So many payments with an unexplained balance are remembered, so that they do not lead to one deep rescan after another. */
const MAXIMUM_REMEMBERED = 1_000;

/** Maximum pause between two deep rescans for one payment. */
const MAXIMUM_PAUSE_MS = 6 * 3_600_000;

/** Tasks that keep the observations equal to the chain: the watcher, two ways to find missed events, and expiry. */
export function createWatchTasks(parts: WorkerParts): readonly WorkerTask[] {
  const context = watchContextOf(parts);
  const investigate = createInvestigation(parts, context);
  return [
    watchTask(parts, context),
    rescanTask(parts, context),
    sweepTask(parts, investigate),
    expiryTask(parts, investigate),
  ];
}

function watchContextOf({ store, external, known, nowMs, log, metrics }: WorkerParts): WatchDepositsContext {
  return {
    chain: external.chain,
    observations: store.observations,
    known,
    decide: (view) => settleScanned(view, { nowMs: nowMs() }),
    onRewind(from, to) {
      metrics.chainRewinds.inc();
      log.error({ from, to }, 'the chain removed blocks that it had reported as final; scanning them again');
    },
  };
}

function watchTask({ external, metrics, wake }: WorkerParts, context: WatchDepositsContext): WorkerTask {
  return {
    name: 'watch',
    intervalMs: external.intervals.watchIntervalMs,
    async run() {
      const pass = await watchDeposits(context);
      metrics.scannedBlock.set(pass.cursor.number);
      metrics.latestBlock.set(pass.latest.number);
      wake('relay', 'webhooks');
      return !pass.isCaughtUp;
    },
  };
}

function rescanTask({ external, metrics, log }: WorkerParts, context: WatchDepositsContext): WorkerTask {
  return {
    name: 'rescan',
    intervalMs: external.intervals.rescanIntervalMs,
    async run(signal) {
      const added = await rescanFinalBlocks(context, external.intervals.rescanDepthBlocks, { signal });
      if (added > 0) {
        metrics.missedLogs.inc(added);
        log.warn({ added }, 'an earlier scan missed events, which are now recorded');
      }
      return false;
    },
  };
}

/** Reads the chain again, deeply and at each endpoint, for payments that hold more than was observed. */
type Investigate = (unexplained: readonly PaymentId[], signal: AbortSignal) => Promise<void>;

/** A payment whose balance a deep rescan did not explain is investigated again, after a pause that doubles each time. */
interface Unexplained {
  readonly nextAtMs: number;
  readonly pauseMs: number;
}

function createInvestigation(
  { external, metrics, log, monotonicMs }: WorkerParts,
  context: WatchDepositsContext,
): Investigate {
  const { sweepIntervalMs, deepRescanBlocks } = external.intervals;
  // What is evicted is investigated once more than necessary.
  const investigated = new LRUCache<PaymentId, Unexplained>({ max: MAXIMUM_REMEMBERED });

  function remember(id: PaymentId): void {
    const before = investigated.get(id);
    const pauseMs = Math.min((before?.pauseMs ?? sweepIntervalMs / 2) * 2, MAXIMUM_PAUSE_MS);
    investigated.set(id, { nextAtMs: monotonicMs() + pauseMs, pauseMs });
  }

  return async (unexplained, signal) => {
    const due = unexplained.filter((id) => (investigated.peek(id)?.nextAtMs ?? 0) <= monotonicMs());
    if (due.length === 0) return;
    metrics.unexplainedBalances.inc(due.length);
    log.error(
      { payments: due.slice(0, 10) },
      'addresses hold more than was recorded; rescanning at every endpoint',
    );
    const added = await rescanFinalBlocks(context, deepRescanBlocks, { isEachAsked: true, signal });
    metrics.missedLogs.inc(added);
    // Not before: a reading that failed is tried again with the next sweep. One that found something may have explained
    // them all; what it did not explain the next sweep names again.
    for (const id of due) {
      if (added > 0) investigated.delete(id);
      else remember(id);
    }
  };
}

/** Goes over the open payments in portions, with a pause between them and a long one at the end. */
function sweepTask(
  { store, external, nowMs, monotonicMs }: WorkerParts,
  investigate: Investigate,
): WorkerTask {
  const context = { ...store, sweep: external.sweepBalances, nowMs };
  let after: string | null = null;
  let nextSweepAtMs = Number.NEGATIVE_INFINITY;
  return {
    name: 'sweep',
    intervalMs: SWEEP_PORTION_INTERVAL_MS,
    async run(signal) {
      if (monotonicMs() < nextSweepAtMs) return false;
      const { last, unexplained } = await sweepOpenPayments(context, after);
      after = last;
      if (last === null) nextSweepAtMs = monotonicMs() + external.intervals.sweepIntervalMs;
      await investigate(unexplained, signal);
      return false;
    },
  };
}

function expiryTask({ store, external, nowMs, expiryMs }: WorkerParts, investigate: Investigate): WorkerTask {
  const context = { ...store, sweep: external.sweepBalances, nowMs, expiryMs };
  return {
    name: 'expire',
    intervalMs: EXPIRY_INTERVAL_MS,
    async run(signal) {
      const { checked, unexplained } = await expirePayments(context);
      await investigate(unexplained, signal);
      return checked > 0;
    },
  };
}
