import type { Account } from '../domain/account.ts';
import type { DeliveryBounds } from '../domain/choose-webhooks.ts';
import type { PaymentReference } from '../domain/payment.ts';
import type { PaymentView } from '../domain/ports/payment-store.ts';
import type { Webhook, WebhookResult } from '../domain/webhook.ts';
import { receiptMail } from '../http/checkout/receipt-mail.ts';
import { claimWebhooks } from '../payments/claim-webhooks.ts';
import { createRelayMemory, type RelayContext } from '../payments/relay/relay-context.ts';
import { relayReleases } from '../payments/relay-releases.ts';
import { sendReceipts } from '../payments/send-receipts.ts';
import { sendWebhook } from '../payments/send-webhooks.ts';
import type { WorkerTask } from '../worker.ts';
import { createErasingTask } from './erasing-task.ts';
import { createGasTask } from './gas-task.ts';
import { createIndexTask } from './index-task.ts';
import type { Log } from './log.ts';
import { createStaleCutoff } from './stale-cutoff.ts';
import { createTroubleTasks } from './trouble-tasks.ts';
import { createWatchTasks } from './watch-tasks.ts';
import type { WorkerParts } from './worker-parts.ts';

const WEBHOOK_INTERVAL_MS = 1_000;
const STALE_INTERVAL_MS = 30_000;
const RECEIPT_INTERVAL_MS = 2_000;

/** Far longer than a delivery may take, and than the clocks of two instances may differ. */
const STALE_AFTER_MS = 120_000;

/** Open deliveries at a time; a slow receiver holds one for ten seconds. */
const deliveryBounds: DeliveryBounds = { open: 2_000, openPerHost: 100 };

/** Everything that goes on by itself, by who may do it. */
export interface WorkerTasks {
  /** For one process at a time, among all with the same data. */
  readonly watching: readonly WorkerTask[];
  /** For one process at a time, among all with the same relayer key. */
  readonly sending: readonly WorkerTask[];
  /** For every process. */
  readonly shared: readonly WorkerTask[];
  /** Waits for what was begun and cannot be taken back: open deliveries. */
  drain(): Promise<void>;
}

export function createWorkerTasks(parts: WorkerParts): WorkerTasks {
  const webhooks = createWebhookTask(parts);
  return {
    watching: [...createWatchTasks(parts), createIndexTask(parts.store), createErasingTask(parts)],
    sending: [relayTask(parts)],
    shared: [
      createGasTask(parts),
      webhooks.task,
      staleWebhooksTask(parts),
      ...receiptTasks(parts),
      ...createTroubleTasks(parts),
    ],
    drain: webhooks.drain,
  };
}

function relayTask({ store, world, nowMs, log, metrics, inPlaceOf }: WorkerParts): WorkerTask {
  const context: RelayContext = {
    ...store,
    relayer: world.relayer,
    token: world.token,
    nowMs,
    limits: world.pace.relayLimits,
    memory: createRelayMemory(),
    inPlaceOf,
    onIncident(incident) {
      metrics.relayIncidents.inc({ kind: incident.kind });
      log.warn(incident, 'relay');
    },
  };
  return {
    name: 'relay',
    intervalMs: world.pace.relayIntervalMs,
    async run() {
      const pass = await relayReleases(context);
      metrics.relayPasses.inc({ result: pass });
      if (pass === 'bumped' || pass === 'replaced' || pass === 'abandoned' || pass === 'refused')
        log.warn({ pass }, 'relay');
      return pass === 'resolved';
    },
  };
}

/** Tells customers by e-mail that their payment is paid; none where mail is not configured. */
function receiptTasks({ store, world, mailer, baseUrl, nowMs, log }: WorkerParts): WorkerTask[] {
  if (mailer === null) return [];
  const context = {
    ...store,
    mailer,
    composeReceipt: (view: PaymentView, account: Account) =>
      receiptMail(view, account, {
        checkoutUrl: `${baseUrl}/pay/${view.payment.id}`,
        explorerTransactionUrl: world.explorerTransactionUrl,
      }),
    nowMs,
    onFailure: ({ id }: PaymentReference, err: unknown) => log.warn({ err, paymentId: id }, 'receipt'),
  };
  return [{ name: 'receipts', intervalMs: RECEIPT_INTERVAL_MS, run: () => sendReceipts(context) }];
}

/** Gives up webhooks whose process is gone: nobody knows whether they were sent. */
function staleWebhooksTask({ store, nowMs, monotonicMs, log }: WorkerParts): WorkerTask {
  const cutoff = createStaleCutoff({ nowMs, monotonicMs }, STALE_AFTER_MS);
  return {
    name: 'stale webhooks',
    intervalMs: STALE_INTERVAL_MS,
    async run() {
      const beforeMs = cutoff();
      if (beforeMs !== null) reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(beforeMs));
      return false;
    },
  };
}

/** Says how many webhooks were given up, if any. */
export function reportAbandoned(log: Log, abandoned: number): void {
  if (abandoned > 0)
    log.warn({ abandoned }, 'webhooks were cut off in mid delivery; their outcome stays unknown');
}

/** Claims webhooks as there are places and sends each on its own, so that a slow receiver holds up nobody else. */
function createWebhookTask({ store, tokens, deliver, nowMs, log, metrics, wake }: WorkerParts): {
  readonly task: WorkerTask;
  drain(): Promise<void>;
} {
  const open = new Map<Webhook, Promise<void>>();
  let isHeldUp = false;
  const context = {
    webhooks: store.webhooks,
    tokens,
    deliver,
    nowMs,
    onResult: ({ paymentId }: Webhook, { outcome, reason }: WebhookResult) => {
      metrics.webhooks.inc({ outcome });
      if (outcome !== 'delivered') log.warn({ paymentId, outcome, reason }, 'webhook');
    },
  };
  const send = async (webhook: Webhook) => {
    await sendWebhook(context, webhook).catch((error: unknown) =>
      log.error({ err: error, paymentId: webhook.paymentId }, 'webhook'),
    );
    open.delete(webhook);
    if (isHeldUp) wake('webhooks');
  };
  return {
    task: {
      name: 'webhooks',
      intervalMs: WEBHOOK_INTERVAL_MS,
      async run() {
        // Set before the look: a delivery that ends during it rings, and is not missed.
        isHeldUp = true;
        const pass = await claimWebhooks(store.webhooks, [...open.keys()], deliveryBounds, nowMs);
        isHeldUp = pass.isHeldUp;
        for (const webhook of pass.claimed) open.set(webhook, send(webhook));
        return pass.claimed.length > 0;
      },
    },
    async drain() {
      await Promise.all(open.values());
    },
  };
}
