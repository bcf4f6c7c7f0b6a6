import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { eraseOldData } from '../accounts/erase-old-data.ts';
import { type HourlyRate, hourOf } from '../payment/base-currency.ts';
import { ServiceError } from '../payment/errors.ts';
import { type Currency, currencies } from '../payment/money.ts';
import { EVENT_RETENTION_MS, RATE_RETENTION_MS } from '../payment/retention-periods.ts';
import { readCertificateEnd } from '../platform/outgoing-calls.ts';
import type { Relayer } from '../settlement/chain/chain.ts';
import { lowGasWei, polOf } from '../settlement/chain/gas.ts';
import { createRelayMemory, type RelayContext } from '../settlement/relay/relay-context.ts';
import { relayReleases } from '../settlement/relay/relay-releases.ts';
import { sendWebhook, type Webhook, type WebhookResult } from '../webhooks/send-webhook.ts';
import {
  claimWebhooks,
  deliveryBounds,
  STALE_AFTER_MS,
  WEBHOOK_INTERVAL_MS,
} from '../webhooks/webhook-queue.ts';
import { featureTasks } from './features.ts';
import { createWatchTasks } from './watch-tasks.ts';
import type { WorkerParts, WorkerTask } from './worker-parts.ts';

const STALE_INTERVAL_MS = 30_000;

export type WorkerTasks = ReturnType<typeof createWorkerTasks>;

/** Creates all background tasks, grouped by the processes that may run them. */
export function createWorkerTasks(parts: WorkerParts) {
  const webhooks = createWebhookTask(parts);
  const features = featureTasks(parts);
  return {
    /** Tasks that run in only one of the processes with the same data. */
    watching: [
      ...createWatchTasks(parts),
      createIndexTask(parts.store),
      createEventTask(parts),
      createErasingTask(parts),
      createRateTask(parts),
      ...features.watching,
    ],
    /** One task for each relayer key, which runs in only one of the processes with that key. */
    sending: parts.external.relayers.map((relayer) => relayTask(parts, relayer)),
    /** Tasks that run in every process. */
    shared: [
      ...parts.external.relayers.map((relayer) => createGasTask(parts, relayer)),
      createUnsettledTask(parts),
      createMeasuringTask(parts),
      createCertificateTask(parts),
      webhooks.task,
      staleWebhooksTask(parts),
      ...features.shared,
    ],
    /** Waits for open deliveries, which cannot be canceled. */
    async drain() {
      await Promise.all([webhooks.drain(), features.drain()]);
    },
  };
}

/** Maximum delay before an event gets its number. */
const EVENT_INTERVAL_MS = 500;
/** Maximum events per step; a full step takes the store a few milliseconds. */
const EVENTS_AT_A_TIME = 200;

function createEventTask({ store: { events }, nowMs }: WorkerParts): WorkerTask {
  return {
    name: 'events',
    intervalMs: EVENT_INTERVAL_MS,
    async run() {
      const numbered = await events.numberEvents(EVENTS_AT_A_TIME);
      const deleted = await events.deleteEvents(nowMs() - EVENT_RETENTION_MS, EVENTS_AT_A_TIME);
      return numbered === EVENTS_AT_A_TIME || deleted === EVENTS_AT_A_TIME;
    },
  };
}

function relayTask(parts: WorkerParts, relayer: Relayer): WorkerTask & { readonly relayer: string } {
  const { store, external, nowMs, log, metrics, withRelayerLease } = parts;
  const context: RelayContext = {
    ...store,
    relayer,
    token: external.token,
    nowMs,
    limits: external.intervals.relayLimits,
    memory: createRelayMemory(),
    withRelayerLease,
    onIncident(incident) {
      metrics.relayIncidents.inc({ kind: incident.kind });
      log.warn(incident, 'relay');
    },
  };
  let wasFailing = false;
  const reportSigner = () => {
    const { address } = relayer;
    const failure = relayer.signerFailure();
    const isFailing = failure !== null;
    metrics.relayerSignerFailing.set({ relayer: address }, Number(isFailing));
    if (isFailing && !wasFailing) log.error({ relayer: address }, `releases wait: ${failure}`);
    if (wasFailing && !isFailing) log.info({ relayer: address }, 'the signer signs again');
    wasFailing = isFailing;
  };
  return {
    name: 'relay',
    relayer: relayer.address,
    intervalMs: external.intervals.relayIntervalMs,
    async run() {
      const pass = await relayReleases(context).finally(reportSigner);
      metrics.relayPasses.inc({ result: pass });
      if (pass === 'bumped' || pass === 'replaced' || pass === 'abandoned' || pass === 'refused')
        log.warn({ pass, relayer: relayer.address }, 'relay');
      return pass === 'resolved' || pass === 'deferred';
    },
  };
}

/** Marks webhooks of a dead process as `unknown`, because they may have been sent. */
function staleWebhooksTask({ store, nowMs, log }: WorkerParts): WorkerTask {
  return {
    name: 'stale webhooks',
    intervalMs: STALE_INTERVAL_MS,
    async run() {
      reportAbandoned(log, await store.webhooks.abandonStaleWebhooks(nowMs() - STALE_AFTER_MS));
    },
  };
}

export function reportAbandoned(log: WorkerParts['log'], abandoned: number): void {
  if (abandoned > 0)
    log.warn({ abandoned }, 'webhooks were interrupted during delivery; their outcome stays unknown');
}

/** Claims webhooks for free slots and sends each independently, so that a slow receiver does not delay the others. */
function createWebhookTask(parts: WorkerParts) {
  const { store, log, metrics, wake } = parts;
  const open = new Map<Webhook, Promise<void>>();
  let hasBacklog = false;
  const context = {
    ...parts,
    webhooks: store.webhooks,
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
    if (hasBacklog) wake('webhooks');
  };
  return {
    task: {
      name: 'webhooks',
      intervalMs: WEBHOOK_INTERVAL_MS,
      async run() {
        // Set before the claim, so that a delivery that ends during the claim wakes the task.
        hasBacklog = true;
        const pass = await claimWebhooks(context, [...open.keys()], deliveryBounds);
        hasBacklog = pass.hasBacklog;
        for (const webhook of pass.claimed) open.set(webhook, send(webhook));
        return pass.claimed.length > 0;
      },
    },
    async drain() {
      await Promise.all(open.values());
    },
  };
}

const ERASING_INTERVAL_MS = 10 * 60_000;
/** Pause between chunks. SQLite writes in the API's thread, and a create request must wait for at most one chunk. */
const PAUSE_MS = 50;

/** Pauses between two chunks of deferrable work, so that other writes can proceed. Ends early on the signal. */
async function pauseBetweenPortions(signal: AbortSignal, pauseMs = PAUSE_MS): Promise<void> {
  await delay(pauseMs, undefined, { signal }).catch(() => {});
}

function createErasingTask({ store, nowMs, config }: WorkerParts): WorkerTask {
  return {
    name: 'erase email addresses',
    intervalMs: ERASING_INTERVAL_MS,
    async run(signal) {
      const hasMore = await eraseOldData({ ...store, nowMs }, config.retention);
      if (hasMore) await pauseBetweenPortions(signal);
      return hasMore;
    },
  };
}

const RATE_INTERVAL_MS = 60_000;

/** Records hourly exchange rates for reports. Retries missing rates at each run and logs a failure once an hour. */
export function createRateTask({ store, external, nowMs, log }: WorkerParts): WorkerTask {
  const others = currencies.filter((currency) => currency !== 'USD');
  const recorded = new Map<Currency, number>();
  let warnedHourMs = 0;
  return {
    name: 'rates',
    intervalMs: RATE_INTERVAL_MS,
    async run() {
      const hourMs = hourOf(nowMs());
      const due = others.filter((currency) => recorded.get(currency) !== hourMs);
      const rates: HourlyRate[] = [];
      let failure: ServiceError | null = null;
      for (const currency of due) {
        try {
          rates.push({ currency, hourMs, usdRate: await external.rates.usdRate(currency) });
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          failure = error;
        }
      }
      if (failure !== null && warnedHourMs !== hourMs) {
        warnedHourMs = hourMs;
        log.warn({ err: failure }, 'exchange rates of this hour could not be read for reports');
      }
      if (rates.length > 0) await store.search.recordRates(rates, hourMs - RATE_RETENTION_MS);
      for (const { currency } of rates) recorded.set(currency, hourMs);
    },
  };
}

const INDEX_INTERVAL_MS = 500;
/** Maximum payments and changes per step. With SQLite, a step then blocks the API's thread for about 10 ms. */
const [INDEXED_PAYMENTS, FOLDED_CHANGES] = [50, 2_000];
/** Pause after a step, as a multiple of its duration, because create requests take precedence. */
const PAUSE_FACTOR = 9;

/** Moves queued rows of new and paid payments into the tables for searches and statistics. */
export function createIndexTask({ search }: Pick<WorkerParts['store'], 'search'>): WorkerTask {
  return {
    name: 'index',
    intervalMs: INDEX_INTERVAL_MS,
    async run(signal) {
      const startedMs = performance.now();
      const isFolded = (await search.foldStatistics(FOLDED_CHANGES)) < FOLDED_CHANGES;
      const isIndexed = (await search.indexPayments(INDEXED_PAYMENTS)) < INDEXED_PAYMENTS;
      if (isFolded && isIndexed) return false;
      await pauseBetweenPortions(signal, PAUSE_FACTOR * (performance.now() - startedMs));
      return true;
    },
  };
}

const GAS_INTERVAL_MS = 10 * 60_000;

/** Checks a relayer's signer and records its balance. Logs once when the balance becomes too low, or recovers. */
export function createGasTask(
  { metrics, log }: Pick<WorkerParts, 'metrics' | 'log'>,
  relayer: Relayer,
): WorkerTask {
  let isLow = false;
  return {
    name: 'gas',
    intervalMs: GAS_INTERVAL_MS,
    async run() {
      // `signerFailure` below reports the failure, even in a process that sends nothing.
      await relayer.checkSigner().catch(() => {});
      const isFailing = relayer.signerFailure() !== null;
      metrics.relayerSignerFailing.set({ relayer: relayer.address }, Number(isFailing));
      const [balanceWei, fees] = await Promise.all([relayer.readGasBalance(), relayer.quoteFees()]);
      const lowWei = lowGasWei(fees);
      const [balancePol, lowPol] = [polOf(balanceWei), polOf(lowWei)];
      metrics.relayerBalancePol.set({ relayer: relayer.address }, balancePol);
      metrics.relayerLowBalancePol.set({ relayer: relayer.address }, lowPol);
      const wasLow = isLow;
      isLow = balanceWei < lowWei;
      const fields = { relayer: relayer.address, balancePol, lowPol };
      if (isLow && !wasLow) log.error(fields, 'the relayer is low on gas: send POL to it, or releases stop');
      if (wasLow && !isLow) log.info(fields, 'the relayer has enough gas again');
    },
  };
}

const UNSETTLED_INTERVAL_MS = 30_000;
/** Maximum number of payments to count: more than an operator would inspect one by one. */
const UNSETTLED_COUNTED = 1_000;

/** Records how many payments hold money, and for how long the oldest release has been due or under way. */
export function createUnsettledTask(parts: Pick<WorkerParts, 'store' | 'metrics' | 'nowMs'>): WorkerTask {
  const { store, metrics, nowMs } = parts;
  return {
    name: 'unsettled',
    intervalMs: UNSETTLED_INTERVAL_MS,
    async run() {
      const [batch] = await store.relay.listOpenBatches(1);
      const dueAtMs = [batch?.attempts[0]?.signedAtMs ?? nowMs()];
      for (const status of ['ready', 'processing', 'manual_required'] as const) {
        const payments = await store.search.listUnsettled(null, [status], UNSETTLED_COUNTED);
        metrics.unsettledPayments.set({ forward_status: status }, payments.length);
        if (status === 'ready')
          dueAtMs.push(...payments.map(({ releaseDueAtMs }) => releaseDueAtMs ?? nowMs()));
      }
      const waiting = await store.webhooks.listWaitingWebhooks(UNSETTLED_COUNTED, []);
      metrics.webhooksWaiting.set(waiting.length);
      const lateMs = nowMs() - dueAtMs.reduce((one, other) => Math.min(one, other));
      metrics.releaseOverdueSeconds.set(Math.max(0, Math.round(lateMs / 1000)));
    },
  };
}

const MEASURING_INTERVAL_MS = 60_000;

/** Records the size of the database and the free share of the disk with DATA_DIR. */
function createMeasuringTask({ store, metrics, config: { dataDir } }: WorkerParts): WorkerTask {
  return {
    name: 'measure',
    intervalMs: MEASURING_INTERVAL_MS,
    async run() {
      for (const [part, bytes] of Object.entries(await store.readSize()))
        metrics.databaseBytes.set({ part }, bytes);
      const { bavail, blocks } = await statfs(dataDir);
      metrics.diskFreeRatio.set({ folder: resolve(dataDir) }, bavail / blocks);
    },
  };
}

const CERTIFICATE_INTERVAL_MS = 3_600_000;

/** Records when the certificate of BASE_URL expires. A failure keeps the last value and is logged once. */
export function createCertificateTask(
  parts: Pick<WorkerParts, 'metrics' | 'log' | 'baseUrl' | 'config'>,
): WorkerTask {
  const { metrics, log, baseUrl, config } = parts;
  let isFailing = false;
  return {
    name: 'certificate',
    intervalMs: CERTIFICATE_INTERVAL_MS,
    async run(signal) {
      if (!baseUrl.startsWith('https:')) return;
      try {
        const endMs = await readCertificateEnd(baseUrl, config.chain?.egressProxy ?? null, signal);
        metrics.certificateExpiry.set({ host: new URL(baseUrl).host }, endMs / 1000);
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted)
          log.warn({ err: error }, 'the certificate of BASE_URL could not be read');
        isFailing = true;
      }
    },
  };
}
