import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import type { Order } from './order.ts';
import type { OrderEvent, SimulatedNotice } from './protocols/simulated-protocol.ts';

export interface NoticeSenderOptions {
  /** Where a provider's notices are registered. */
  readonly noticesUrl: (provider: ProviderId) => string;
  readonly noticeOf: (order: Order, event: OrderEvent, atMs: number) => SimulatedNotice | null;
  readonly nowMs: () => number;
  readonly log: SandboxLog;
}

/** Tells the shop what happens to its customers' orders, as badly as real providers do. */
export interface NoticeSender {
  orderChanged(order: Order, event: OrderEvent): void;
  stop(): Promise<void>;
}

const ATTEMPTS = 3;
const RETRY_MS = 300;
const TIMEOUT_MS = 3_000;
/** What is not sent yet beyond this is dropped: notices are hints. */
const MAXIMUM_WAITING = 1_000;
const MAXIMUM_REMEMBERED = 1_000;

interface Event {
  readonly order: Order;
  readonly event: OrderEvent;
  readonly atMs: number;
}

/**
 * Sends every notice twice, and after each later one the earlier one once more: who listens has to bear both. Nothing
 * is kept over a restart.
 */
export function createNoticeSender(options: NoticeSenderOptions): NoticeSender {
  const stopping = new AbortController();
  const earlier = new Map<string, Event>();
  let waiting = 0;
  let queue: Promise<void> = Promise.resolve();

  async function post(event: Event): Promise<void> {
    const notice = options.noticeOf(event.order, event.event, event.atMs);
    if (notice === null) return;
    const { provider } = event.order;
    const url = notice.url ?? options.noticesUrl(provider);
    let problem = '';
    for (let attempt = 1; attempt <= ATTEMPTS && !stopping.signal.aborted; attempt++) {
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...notice.headers },
          body: notice.body,
          signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        });
        await response.arrayBuffer();
        if (response.ok) return;
        problem = `it answered ${response.status}`;
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
      }
      if (attempt < ATTEMPTS) await delay(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
    if (!stopping.signal.aborted) options.log.warn({ provider, problem }, 'the shop did not take a notice');
  }

  async function tell(event: Event): Promise<void> {
    await post(event);
    await post(event);
    const before = earlier.get(event.order.id);
    if (before !== undefined) await post(before);
    earlier.delete(event.order.id);
    earlier.set(event.order.id, event);
    for (const oldest of earlier.keys()) {
      if (earlier.size <= MAXIMUM_REMEMBERED) break;
      earlier.delete(oldest);
    }
  }

  return {
    orderChanged(order, event) {
      if (waiting >= MAXIMUM_WAITING) return;
      const happened = { order, event, atMs: options.nowMs() };
      waiting++;
      queue = queue
        .then(() => (stopping.signal.aborted ? undefined : tell(happened)))
        .finally(() => waiting--);
    },
    async stop() {
      stopping.abort();
      await queue;
    },
  };
}
