import type { IpnTokens } from '../domain/ipn-token.ts';
import type { DeliverWebhook } from '../domain/ports/callback-guard.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';
import { settle } from '../domain/settle.ts';
import { expirePayments, readExpiredBeforeMs } from '../payments/expire-payments.ts';
import type { KnownAddresses } from '../payments/known-addresses.ts';
import { relayReleases } from '../payments/relay-releases.ts';
import { sendWebhook } from '../payments/send-webhooks.ts';
import { sweepOpenPayments } from '../payments/sweep-balances.ts';
import { rescanFinalBlocks, type WatchDepositsContext, watchDeposits } from '../payments/watch-deposits.ts';
import type { Store } from '../store/store.ts';
import type { WorkerTask } from '../worker.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { World } from './world.ts';

export interface WorkerParts {
  readonly store: Store;
  readonly world: World;
  readonly known: KnownAddresses;
  readonly tokens: IpnTokens;
  readonly deliver: DeliverWebhook;
  readonly nowMs: () => number;
  readonly expiryMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Ends the pause of other tasks, because this one has made work for them. */
  readonly wake: (...names: string[]) => void;
}

const WEBHOOK_INTERVAL_MS = 1_000;
const EXPIRY_INTERVAL_MS = 10_000;
const GAS_INTERVAL_MS = 60_000;

/** Open deliveries at a time; a slow receiver holds one for ten seconds. */
const MAXIMUM_OPEN_DELIVERIES = 500;

/** Everything that goes on by itself. `drain` waits for what was begun and cannot be taken back: open deliveries. */
export function createWorkerTasks(parts: WorkerParts): {
  readonly tasks: readonly WorkerTask[];
  drain(): Promise<void>;
} {
  const webhooks = createWebhookTask(parts);
  return {
    tasks: [
      watchTask(parts),
      rescanTask(parts),
      sweepTask(parts),
      relayTask(parts),
      expiryTask(parts),
      gasTask(parts),
      webhooks.task,
    ],
    drain: webhooks.drain,
  };
}

function watchContextOf({
  store,
  world,
  known,
  nowMs,
  expiryMs,
  log,
  metrics,
}: WorkerParts): WatchDepositsContext {
  return {
    chain: world.chain,
    ledger: store.ledger,
    known,
    async decide() {
      const expiredBeforeMs = await readExpiredBeforeMs({ ...store, nowMs, expiryMs });
      return (view) => settle(view, { nowMs: nowMs(), expiredBeforeMs });
    },
    onRewind(from: BlockReference, to: BlockReference) {
      metrics.chainRewinds.inc();
      log.error({ from, to }, 'the chain lost blocks that it had called final; scanning them again');
    },
  };
}

function watchTask(parts: WorkerParts): WorkerTask {
  const context = watchContextOf(parts);
  return {
    name: 'watch',
    intervalMs: parts.world.pace.watchIntervalMs,
    async run() {
      const pass = await watchDeposits(context);
      parts.metrics.scannedBlock.set(pass.cursor.number);
      parts.metrics.latestBlock.set(pass.latest.number);
      parts.wake('relay', 'webhooks');
      return !pass.isCaughtUp;
    },
  };
}

function rescanTask(parts: WorkerParts): WorkerTask {
  const context = watchContextOf(parts);
  return {
    name: 'rescan',
    intervalMs: parts.world.pace.rescanIntervalMs,
    async run() {
      const added = await rescanFinalBlocks(context, parts.world.pace.rescanDepthBlocks);
      if (added > 0) {
        parts.metrics.missedLogs.inc(added);
        parts.log.warn({ added }, 'an earlier scan had missed events; they are recorded now');
      }
      return false;
    },
  };
}

/** Goes over all payments in portions; where a balance is unexplained, the chain is read again, deeply. */
function sweepTask(parts: WorkerParts): WorkerTask {
  const { store, world, metrics, log } = parts;
  const context = { ...store, sweep: world.sweepBalances };
  let after = '';
  return {
    name: 'sweep',
    intervalMs: world.pace.sweepIntervalMs,
    async run() {
      const { last, unexplained } = await sweepOpenPayments(context, after);
      after = last ?? '';
      metrics.unexplainedBalances.inc(unexplained.length);
      if (unexplained.length > 0) {
        log.error(
          { payments: unexplained.slice(0, 10) },
          'balances differ from the ledger; scanning again, deeply',
        );
        await rescanFinalBlocks(watchContextOf(parts), world.pace.deepRescanBlocks);
      }
      return last !== null;
    },
  };
}

/** Keeps the relayer's gas money in the metrics, because an empty relayer releases nothing. */
function gasTask({ world, metrics }: WorkerParts): WorkerTask {
  return {
    name: 'gas',
    intervalMs: GAS_INTERVAL_MS,
    async run() {
      metrics.relayerBalancePol.set(Number((await world.relayer.readGasBalance()) / 10n ** 12n) / 1e6);
      return false;
    },
  };
}

function relayTask({ store, world, nowMs, log, metrics }: WorkerParts): WorkerTask {
  const context = {
    ...store,
    relayer: world.relayer,
    token: world.token,
    nowMs,
    limits: world.pace.relayLimits,
  };
  return {
    name: 'relay',
    intervalMs: world.pace.relayIntervalMs,
    async run() {
      const pass = await relayReleases(context);
      metrics.relayPasses.inc({ result: pass });
      if (pass === 'bumped' || pass === 'abandoned' || pass === 'refused') log.warn({ pass }, 'relay');
      return pass === 'resolved';
    },
  };
}

function expiryTask({ store, nowMs, expiryMs }: WorkerParts): WorkerTask {
  return {
    name: 'expire',
    intervalMs: EXPIRY_INTERVAL_MS,
    run: async () => (await expirePayments({ ...store, nowMs, expiryMs })) > 0,
  };
}

/** Claims webhooks as there is room and sends each on its own, so that a slow receiver holds up nobody else. */
function createWebhookTask({ store, tokens, deliver, nowMs, log, metrics, wake }: WorkerParts): {
  readonly task: WorkerTask;
  drain(): Promise<void>;
} {
  const open = new Set<Promise<void>>();
  const context = {
    webhooks: store.webhooks,
    tokens,
    deliver,
    nowMs,
    onResult: (
      webhook: { readonly paymentId: string },
      { outcome, reason }: { outcome: string; reason: string | null },
    ) => {
      metrics.webhooks.inc({ outcome });
      if (outcome !== 'delivered') log.warn({ paymentId: webhook.paymentId, outcome, reason }, 'webhook');
    },
  };
  return {
    task: {
      name: 'webhooks',
      intervalMs: WEBHOOK_INTERVAL_MS,
      async run() {
        const room = MAXIMUM_OPEN_DELIVERIES - open.size;
        if (room === 0) return false;
        const claimed = await store.webhooks.claimWebhooks(room, nowMs());
        for (const webhook of claimed) {
          const delivery = sendWebhook(context, webhook)
            .catch((error: unknown) => log.error({ err: error, paymentId: webhook.paymentId }, 'webhook'))
            .finally(() => {
              open.delete(delivery);
              if (open.size === MAXIMUM_OPEN_DELIVERIES - 1) wake('webhooks');
            });
          open.add(delivery);
        }
        return claimed.length === room;
      },
    },
    async drain() {
      await Promise.all(open);
    },
  };
}
