import { setTimeout as delay } from 'node:timers/promises';
import type { ProviderId } from '../src/payment/provider-catalog.ts';
import type { ProviderFault } from '../src/payment/test-payments.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { Order, OrderStore } from './order-store.ts';

export interface PayOrderRequest {
  /** URL of the order's page, or the order's id. */
  readonly order: string;
  /** Delivery that replaces the quoted one, in 10⁻⁶ USDC. */
  readonly deliveryUnits?: bigint;
  /** Page from which the customer comes, because some on-ramps refuse customers from other sites. */
  readonly cameFrom?: string;
}

export interface PaidOrder {
  readonly transactionHash: string;
  /** In 10⁻⁶ USDC. */
  readonly deliveryUnits: bigint;
}

/** Error for an order that cannot be paid. The message is shown to the user. */
export class OrderNotPayableError extends Error {
  override readonly name = 'OrderNotPayableError';
}

const SEND_MS = 15_000;
const RETRY_MS = 50;

/** Returns the order id in the URL of an order's page, or the given id itself. */
export function orderIdOf(order: string): string {
  if (!URL.canParse(order)) return order;
  return /^\/[a-z]+\/pay\/([^/]+)/.exec(new URL(order).pathname)?.[1] ?? order;
}

/**
 * Finds the order of a URL. If the URL contains the purchase instead of an order id, opens the URL first, as a browser
 * would. Throws `OrderNotPayableError` if the on-ramp refuses the URL or does not know the order.
 */
export async function openedOrder(
  store: OrderStore,
  { order: named, cameFrom }: PayOrderRequest,
): Promise<Order> {
  let id = orderIdOf(named);
  if (URL.canParse(id)) {
    const response = await fetch(named, {
      redirect: 'manual',
      signal: AbortSignal.timeout(SEND_MS),
      headers: cameFrom === undefined ? {} : { referer: `${new URL(cameFrom).origin}/` },
    });
    await response.arrayBuffer();
    const location = response.headers.get('location');
    if (location === null)
      throw new OrderNotPayableError(`the simulated on-ramp refused the address with ${response.status}`);
    id = orderIdOf(new URL(location, named).href);
  }
  const order = store.findOrder(id);
  if (order === null) throw new OrderNotPayableError('the simulated on-ramps know no such order');
  return order;
}

async function waitUntilSent(
  { store, worker }: { readonly store: OrderStore; readonly worker: DeliveryWorker },
  orderId: string,
  patienceMs: number,
): Promise<PaidOrder> {
  const deadlineMs = performance.now() + patienceMs;
  let lastError: unknown;
  while (performance.now() < deadlineMs) {
    try {
      await worker.deliverNow();
    } catch (error) {
      lastError = error; // The chain may be restarting.
    }
    const order = store.findOrder(orderId);
    if (order?.transactionHash && order.state !== 'accepted') {
      return {
        transactionHash: order.transactionHash,
        deliveryUnits: order.deliveryUnits ?? order.quotedUnits,
      };
    }
    await delay(RETRY_MS);
  }
  throw new Error('the order is paid, but its transfer could not be sent in time; it will be sent later', {
    cause: lastError,
  });
}

/**
 * Pays an order with a valid card, and resolves when the transfer is sent. Throws `OrderNotPayableError` if the order
 * is unknown, expired or already paid, if the amount is not positive, or if a fault of the provider prevents it.
 */
export async function payOrder(
  dependencies: AcceptOrderContext & { readonly worker: DeliveryWorker },
  request: PayOrderRequest,
): Promise<PaidOrder & { readonly order: Order }> {
  const { store, worker, faultOf, slowDeliveryMs } = dependencies;
  const order = await openedOrder(store, request);
  const fault = faultOf(order.provider);
  if (fault === 'down' || fault === 'refuse') {
    const reason = fault === 'down' ? 'is down' : 'refuses every card';
    throw new OrderNotPayableError(`the simulated on-ramp ${order.provider} ${reason}`);
  }
  const { deliveryUnits: units } = request;
  if ((units ?? order.quotedUnits) <= 0n)
    throw new OrderNotPayableError('the amount to deliver must be positive');
  if (!acceptOrder(dependencies, order, units === undefined ? {} : { units })) {
    const reason = order.state === 'open' ? 'has expired' : 'is already paid';
    throw new OrderNotPayableError(`the order ${order.id} ${reason}`);
  }
  const patienceMs = SEND_MS + (fault === 'late' ? slowDeliveryMs : 0);
  return { ...(await waitUntilSent({ store, worker }, order.id, patienceMs)), order };
}

export interface AcceptOrderContext {
  readonly store: OrderStore;
  readonly nowMs: () => number;
  readonly faultOf: (provider: ProviderId) => ProviderFault;
  readonly slowDeliveryMs: number;
}

/** Delivery settings that override the provider's fault. */
export interface WantedDelivery {
  /** Delivery that replaces the quoted one, in 10⁻⁶ USDC. */
  readonly units?: bigint;
  readonly isLate?: boolean;
}

const TWIN_ENDING = '.again';

/** Returns whether an order is only the second delivery of another order. */
export function isTwin(orderId: string): boolean {
  return orderId.endsWith(TWIN_ENDING);
}

/**
 * Accepts the card. The provider's fault decides the amount, time and number of deliveries. Returns false if the order
 * is no longer open, so that only one of two concurrent clicks is accepted.
 */
export function acceptOrder(context: AcceptOrderContext, order: Order, wanted: WantedDelivery = {}): boolean {
  const { store, nowMs } = context;
  const fault = context.faultOf(order.provider);
  const isLate = wanted.isLate === true || fault === 'late';
  const delivery = {
    units: wanted.units ?? (fault === 'less' ? order.quotedUnits / 2n : order.quotedUnits),
    dueAtMs: nowMs() + (isLate ? context.slowDeliveryMs : 0),
    isWrongToken: fault === 'wrong-token',
  };
  if (!store.acceptOrder(order.id, delivery, nowMs())) return false;
  if (fault === 'twice') {
    const id = `${order.id}${TWIN_ENDING}`;
    store.createOrder({ ...order, id });
    store.acceptOrder(id, delivery, nowMs());
  }
  return true;
}

export interface TestCard {
  /** Number as displayed. Spaces and hyphens are ignored when numbers are compared. */
  readonly number: string;
  readonly outcome: 'good' | 'declined' | 'slow' | 'short';
  readonly explanation: string;
}

/** The only cards that the simulated on-ramps accept. */
export const testCards: readonly TestCard[] = [
  { number: '4242 4242 4242 4242', outcome: 'good', explanation: 'is accepted, delivers at once' },
  { number: '4000 0000 0000 0002', outcome: 'declined', explanation: 'is declined' },
  { number: '4000 0000 0000 3220', outcome: 'slow', explanation: 'is accepted, delivers after a while' },
  { number: '4000 0000 0000 9995', outcome: 'short', explanation: 'is accepted, delivers only half' },
];

function digitsOf(number: string): string {
  return number.replace(/[\s-]/g, '');
}

export function findTestCard(number: string): TestCard | null {
  const digits = digitsOf(number);
  return testCards.find((card) => digitsOf(card.number) === digits) ?? null;
}
