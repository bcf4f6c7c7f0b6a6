import { setTimeout as delay } from 'node:timers/promises';
import { type AcceptOrderContext, acceptOrder } from './accept-order.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { Order } from './order.ts';
import type { OrderStore } from './order-store.ts';

/** Plays the customer to the end of the on-ramp, without a page. */
export interface PayOrderRequest {
  /** The address of its page, or its id. */
  readonly order: string;
  /** What is delivered instead of what was promised, 10⁻⁶ units. */
  readonly deliveryUnits?: bigint;
  /** The page that the customer comes from; some on-ramps take nobody who comes from elsewhere. */
  readonly cameFrom?: string;
}

/** The order cannot be paid (any more); the message says why, for a person. */
export class OrderNotPayableError extends Error {
  override readonly name = 'OrderNotPayableError';
}

const SEND_MS = 15_000;
const RETRY_MS = 50;

/** The id in the address of an order's page, or the id itself. */
export function orderIdOf(order: string): string {
  if (!URL.canParse(order)) return order;
  return /^\/[a-z]+\/pay\/([^/]+)/.exec(new URL(order).pathname)?.[1] ?? order;
}

/**
 * The id of the order that an address leads to. An address that has to be opened first, because it carries what is to
 * be bought, is opened as a browser would. Throws `OrderNotPayableError` when the on-ramp refuses it.
 */
export async function openedOrderId({ order, cameFrom }: PayOrderRequest): Promise<string> {
  if (!URL.canParse(order) || orderIdOf(order) !== order) return orderIdOf(order);
  const response = await fetch(order, {
    redirect: 'manual',
    signal: AbortSignal.timeout(SEND_MS),
    headers: cameFrom === undefined ? {} : { referer: `${new URL(cameFrom).origin}/` },
  });
  await response.arrayBuffer();
  const location = response.headers.get('location');
  if (location === null)
    throw new OrderNotPayableError(`the simulated on-ramp refused the address with ${response.status}`);
  return orderIdOf(new URL(location, order).href);
}

async function waitUntilSent(
  { store, worker }: { readonly store: OrderStore; readonly worker: DeliveryWorker },
  orderId: string,
  patienceMs: number,
): Promise<string> {
  const deadlineMs = performance.now() + patienceMs;
  let lastError: unknown;
  while (performance.now() < deadlineMs) {
    try {
      await worker.deliverNow();
    } catch (error) {
      lastError = error; // the chain may just be restarting
    }
    const order = store.findOrder(orderId);
    if (order?.transactionHash && (order.state === 'sent' || order.state === 'delivered')) {
      return order.transactionHash;
    }
    await delay(RETRY_MS);
  }
  throw new Error('the order is paid, but its transfer could not be sent in time; it will be sent later', {
    cause: lastError,
  });
}

/**
 * Pays an order with a good card and resolves when its transfer is sent. Throws `OrderNotPayableError` when the order
 * is unknown, expired or already paid.
 */
export async function payOrder(
  dependencies: AcceptOrderContext & { readonly worker: DeliveryWorker },
  request: PayOrderRequest,
): Promise<{ readonly transactionHash: string; readonly order: Order }> {
  const { store, worker } = dependencies;
  const order = store.findOrder(orderIdOf(request.order));
  if (order === null) throw new OrderNotPayableError('the simulated on-ramps know no such order');
  const { deliveryUnits: units } = request;
  if ((units ?? order.quotedUnits) <= 0n)
    throw new OrderNotPayableError('the amount to deliver must be positive');
  if (!acceptOrder(dependencies, order, units === undefined ? {} : { units })) {
    const reason = order.state === 'open' ? 'has expired' : 'is already paid';
    throw new OrderNotPayableError(`the order ${order.id} ${reason}`);
  }
  const isLate = dependencies.faultOf(order.provider) === 'late';
  const patienceMs = SEND_MS + (isLate ? dependencies.slowDeliveryMs : 0);
  const transactionHash = await waitUntilSent({ store, worker }, order.id, patienceMs);
  return { transactionHash, order };
}
