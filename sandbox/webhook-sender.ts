import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ProviderId } from '../src/payment/provider-catalog.ts';
import type { ProviderFault } from '../src/payment/test-payments.ts';
import type { Order } from './order-store.ts';
import type { OrderEvent, SimulatedWebhook } from './protocols/simulated-protocol.ts';
import type { SandboxLog } from './sandbox-log.ts';

export interface WebhookSenderOptions {
  readonly webhookUrl: (provider: ProviderId) => string;
  /** Creates the webhook. A forged one is signed without the provider's secrets. */
  readonly webhookOf: (happened: OrderUpdate, isForged: boolean) => SimulatedWebhook | null;
  readonly faultOf: (provider: ProviderId) => ProviderFault;
  readonly nowMs: () => number;
  readonly log: SandboxLog;
}

export type WebhookSender = ReturnType<typeof createWebhookSender>;

const ATTEMPTS = 3;
const RETRY_MS = 300;
const TIMEOUT_MS = 3_000;
/** Maximum queued webhooks. More are dropped, because webhooks are only hints. */
const MAXIMUM_WAITING = 1_000;
const MAXIMUM_REMEMBERED = 1_000;
/** Minimum number of times that a webhook is sent during the fault `notices-repeated`. */
const REPEATED = 5;

export interface OrderUpdate {
  readonly order: Order;
  readonly event: OrderEvent;
  readonly atMs: number;
}

/**
 * Reports order changes to the shop as unreliably as real providers do. Sends every webhook twice, and repeats the
 * earlier webhook after each later one, because receivers must tolerate both. Faults apply in addition. A restart
 * discards all state.
 */
export function createWebhookSender(options: WebhookSenderOptions) {
  const stopping = new AbortController();
  const earlier = new LRUCache<string, OrderUpdate>({ max: MAXIMUM_REMEMBERED });
  const heldBack = new LRUCache<string, readonly OrderUpdate[]>({ max: MAXIMUM_REMEMBERED });
  let waiting = 0;
  let queue: Promise<void> = Promise.resolve();

  const post = (event: OrderUpdate, isForged = false) =>
    postWebhook(options, stopping.signal, event, isForged);

  async function deliver(event: OrderUpdate): Promise<void> {
    switch (options.faultOf(event.order.provider)) {
      case 'notices-lost':
        return;
      case 'notices-forged':
        return post(event, true);
      case 'notices-reversed':
        return postReversed(event);
      case 'notices-repeated':
        for (let count = 1; count < REPEATED; count++) await post(event);
        return postTwice(event);
      default:
        return postTwice(event);
    }
  }

  async function postTwice(event: OrderUpdate): Promise<void> {
    await post(event);
    await post(event);
    const before = earlier.get(event.order.id);
    if (before !== undefined) await post(before);
    earlier.set(event.order.id, event);
  }

  /** Holds back all webhooks until the order has ended, and then posts the last one first. */
  async function postReversed(event: OrderUpdate): Promise<void> {
    const held = [...(heldBack.get(event.order.id) ?? []), event];
    if (event.event === 'accepted' || event.event === 'declined') {
      heldBack.set(event.order.id, held);
      return;
    }
    heldBack.delete(event.order.id);
    for (const each of held.reverse()) await post(each);
  }

  return {
    orderChanged(order: Order, event: OrderEvent): void {
      if (waiting >= MAXIMUM_WAITING) return;
      const update = { order, event, atMs: options.nowMs() };
      waiting++;
      queue = queue
        .then(() => (stopping.signal.aborted ? undefined : deliver(update)))
        .finally(() => waiting--);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await queue;
    },
  };
}

/** Posts a webhook in at most `ATTEMPTS` attempts. Logs a warning if all of them fail. */
async function postWebhook(
  options: WebhookSenderOptions,
  stopping: AbortSignal,
  event: OrderUpdate,
  isForged: boolean,
): Promise<void> {
  const webhook = options.webhookOf(event, isForged);
  if (webhook === null) return;
  const { provider } = event.order;
  const url = webhook.url ?? options.webhookUrl(provider);
  let problem = '';
  for (let attempt = 1; attempt <= ATTEMPTS && !stopping.aborted; attempt++) {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...webhook.headers },
        body: webhook.body,
        signal: AbortSignal.any([stopping, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await response.arrayBuffer();
      if (response.ok) return;
      problem = `it answered ${response.status}`;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    if (attempt < ATTEMPTS) await delay(RETRY_MS, undefined, { signal: stopping }).catch(() => {});
  }
  if (!stopping.aborted) options.log.warn({ provider, problem }, 'the shop did not take a webhook');
}
