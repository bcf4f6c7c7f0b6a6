import { LRUCache } from 'lru-cache';
import type { PaymentId } from '../payment/payment.ts';
import { describeMistakenToken } from '../payment/provider-catalog.ts';
import { settleScanned } from '../payment/settle.ts';
import type { LatestBlock } from '../settlement/chain/chain.ts';
import { findMistakenToken, type SweepResult, sweepOpenPayments } from '../settlement/compare-balances.ts';
import { expirePayments } from '../settlement/expire-payments.ts';
import { type Rescan, rescanFinalBlocks } from '../settlement/rescan-blocks.ts';
import type { BlockReference } from '../settlement/settlement-store.ts';
import {
  createKeptBlocks,
  createOpenAddresses,
  type WatchDepositsContext,
  watchDeposits,
} from '../settlement/watch-deposits.ts';
import type { WorkerParts, WorkerTask } from './worker-parts.ts';

const EXPIRY_INTERVAL_MS = 10_000;

/** Pause between two chunks of a sweep, so that it does not delay the API. */
const SWEEP_PORTION_INTERVAL_MS = 1_000;

/** Maximum number of payments with an unexplained balance to remember, so that deep rescans are not repeated. */
const MAXIMUM_REMEMBERED = 1_000;

const MAXIMUM_PAUSE_MS = 6 * 3_600_000;

/** Creates the tasks that keep observations equal to the chain: watcher, two searches for missed events, and expiry. */
export function createWatchTasks(parts: WorkerParts): readonly WorkerTask[] {
  const state = createWatchState(parts);
  const context = watchContextOf(parts, state);
  const investigate = createInvestigation(parts, context);
  return [
    watchTask(parts, context, state),
    rescanTask(parts, context, state),
    sweepTask(parts, investigate),
    expiryTask(parts, state, investigate),
  ];
}

type WatchState = ReturnType<typeof createWatchState>;

/** Time after the end of a batch during which its release may still appear. */
const AFTER_BATCH_MS = 60_000;

function createWatchState({ store, monotonicMs }: WorkerParts) {
  let expectedUntilMs = Number.NEGATIVE_INFINITY;
  return {
    kept: createKeptBlocks(),
    openAddresses: createOpenAddresses({ ...store, monotonicMs }),
    async expectsReleases() {
      const [open] = await store.relay.listOpenBatches(1);
      if (open !== undefined) expectedUntilMs = monotonicMs() + AFTER_BATCH_MS;
      return monotonicMs() < expectedUntilMs;
    },
    /** Newest block that was read a second time; null before the first rescan. */
    rescannedTo: null as BlockReference | null,
  };
}

function watchContextOf(parts: WorkerParts, state: WatchState): WatchDepositsContext {
  const { store, external, nowMs, monotonicMs, log, metrics } = parts;
  return {
    ...state,
    finality: { everyMs: external.intervals.finalityIntervalMs, monotonicMs },
    chain: external.chain,
    observations: store.observations,
    payments: store.payments,
    decide: (view) => settleScanned(view, { nowMs: nowMs() }),
    onRescan: (blocksLeft) => metrics.rescanBlocks.set(blocksLeft),
    onRewind(from, to) {
      if (state.rescannedTo === null || state.rescannedTo.number > to.number) state.rescannedTo = to;
      metrics.chainRewinds.inc();
      log.error({ from, to }, 'the chain removed blocks that it had reported as final; scanning them again');
    },
  };
}

function watchTask(parts: WorkerParts, context: WatchDepositsContext, state: WatchState): WorkerTask {
  const { external, metrics, monotonicMs, wake } = parts;
  const { watchIntervalMs, quietWatchIntervalMs, idleWatchIntervalMs } = external.intervals;
  let lastPassAtMs = Number.NEGATIVE_INFINITY;
  let announced: LatestBlock | null = null;
  external.subscribeToHeads?.((block) => {
    announced = block;
    wake('watch');
  });

  async function pauseMs(): Promise<number> {
    if (!state.kept.isClean || (await state.expectsReleases())) return watchIntervalMs;
    const open = await state.openAddresses();
    return open?.length === 0 ? idleWatchIntervalMs : quietWatchIntervalMs;
  }

  return {
    name: 'watch',
    intervalMs: watchIntervalMs,
    async run() {
      const sinceMs = monotonicMs() - lastPassAtMs;
      const head = announced;
      announced = null;
      if (sinceMs < idleWatchIntervalMs) {
        const dueAfterMs = await pauseMs();
        const isIdle = dueAfterMs === idleWatchIntervalMs;
        // Allows half an interval of tolerance for the timer that ends the pause.
        if (sinceMs + watchIntervalMs / 2 < dueAfterMs && (isIdle || head === null)) return false;
      }
      const startedAtMs = monotonicMs();
      const pass = await watchDeposits(context, head);
      lastPassAtMs = pass.isCaughtUp ? startedAtMs : Number.NEGATIVE_INFINITY;
      metrics.scannedBlock.set(pass.cursor.number);
      metrics.latestBlock.set(pass.latest.number);
      wake('relay', 'webhooks');
      return !pass.isCaughtUp;
    },
  };
}

/** Rereads each final block. Nothing else would find an excess deposit that two endpoints left out. */
function rescanTask(parts: WorkerParts, context: WatchDepositsContext, state: WatchState): WorkerTask {
  const { store, external, monotonicMs } = parts;
  let nextThoroughAtMs = Number.NEGATIVE_INFINITY;
  const { rescanIntervalMs, rescanDepthBlocks, rescanLagBlocks, thoroughRescanIntervalMs } =
    external.intervals;
  return {
    name: 'rescan',
    intervalMs: rescanIntervalMs,
    async run(signal) {
      const cursor = await store.observations.readCursor();
      if (cursor === null) return;
      // Follows a cursor that an operator has moved back.
      if (state.rescannedTo !== null && state.rescannedTo.number > cursor.number) state.rescannedTo = cursor;
      const toBlock = cursor.number - rescanLagBlocks;
      const isThorough = monotonicMs() >= nextThoroughAtMs;
      const deepest = cursor.number - rescanDepthBlocks;
      const next = (state.rescannedTo?.number ?? deepest - 1) + 1;
      const fromBlock = Math.max(0, isThorough ? Math.min(next, deepest) : next);
      if (toBlock < fromBlock) return;
      const rescan = await rescanFinalBlocks(context, { fromBlock, toBlock }, { signal });
      if (!signal.aborted) {
        state.rescannedTo = rescan.rescannedTo;
        if (isThorough) nextThoroughAtMs = monotonicMs() + thoroughRescanIntervalMs;
      }
      reportMissed(parts, rescan);
    },
  };
}

/** Logs contradictions, and counts and logs events that an earlier scan missed. */
function reportMissed({ metrics, log }: WorkerParts, { added, contradictions }: Rescan): void {
  if (contradictions.length > 0)
    log.error(
      { contradictions },
      'the chain contradicts recorded final rows: compare them with another RPC endpoint, and if the rows are wrong, run ' +
        '`card-checkout chain rewind --block N` with a block before them',
    );
  if (added === 0) return;
  metrics.missedLogs.inc(added);
  log.warn({ added }, 'an earlier scan missed events, which are now recorded');
}

/** Function that rescans many blocks at each endpoint, for payments with an unexplained balance. */
type Investigate = (unexplained: readonly PaymentId[], signal: AbortSignal) => Promise<void>;

/** Next investigation of a payment. The pause doubles each time. */
interface Unexplained {
  readonly nextAtMs: number;
  readonly pauseMs: number;
}

function createInvestigation(parts: WorkerParts, context: WatchDepositsContext): Investigate {
  const { external, metrics, log, monotonicMs } = parts;
  const { sweepIntervalMs, deepRescanBlocks } = external.intervals;
  // An evicted entry only costs one more investigation.
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
    const rescan = await rescanFinalBlocks(
      context,
      { depthBlocks: deepRescanBlocks },
      { isEachAsked: true, signal },
    );
    reportMissed(parts, rescan);
    // Runs after the rescan, so that the next sweep repeats a failed one. Rows that the rescan found may explain all
    // balances, so the next sweep reports only those that remain unexplained.
    for (const id of due) {
      if (rescan.added > 0) investigated.delete(id);
      else remember(id);
    }
  };
}

/** Creates a function that reports once per payment that another token was delivered instead of USDC. */
function createTokenReport({ external: { mistakenToken }, log }: WorkerParts) {
  const named = new LRUCache<PaymentId, true>({ max: MAXIMUM_REMEMBERED });
  return async ({ open, blockNumber }: Pick<SweepResult, 'open' | 'blockNumber'>) => {
    if (mistakenToken === undefined) return;
    for (const id of await findMistakenToken(mistakenToken, open, blockNumber)) {
      if (!named.has(id)) log.warn({ payment: id }, describeMistakenToken(id, mistakenToken.contract));
      named.set(id, true);
    }
  };
}

/** Checks the open payments in chunks, with a short pause between chunks and a long one after the last. */
function sweepTask(parts: WorkerParts, investigate: Investigate): WorkerTask {
  const { store, external, nowMs, monotonicMs } = parts;
  const context = { ...store, sweep: external.sweepBalances, nowMs };
  const reportTokens = createTokenReport(parts);
  let after: string | null = null;
  let nextSweepAtMs = Number.NEGATIVE_INFINITY;
  return {
    name: 'sweep',
    intervalMs: SWEEP_PORTION_INTERVAL_MS,
    async run(signal) {
      if (monotonicMs() < nextSweepAtMs) return;
      const swept = await sweepOpenPayments(context, after);
      after = swept.last;
      if (after === null) nextSweepAtMs = monotonicMs() + external.intervals.sweepIntervalMs;
      await investigate(swept.unexplained, signal);
      await reportTokens(swept);
    },
  };
}

function expiryTask(parts: WorkerParts, state: WatchState, investigate: Investigate): WorkerTask {
  const { store, external, nowMs, expiryMs } = parts;
  const rescannedTo = () => state.rescannedTo;
  const context = { ...store, sweep: external.sweepBalances, rescannedTo, nowMs, expiryMs };
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
