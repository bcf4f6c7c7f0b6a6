import type { Client } from './client.ts';
import { ApiError, ConnectionError } from './errors.ts';
import type { PaymentStatus } from './wire.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Pause between requests. Uses 30 of the 120 requests per minute and key, to leave the rest for webhooks. */
const PACE_MS = 2_000;
const ROUND_MS = MINUTE_MS;

/** Order that awaits its payment. */
export interface OpenOrder {
  readonly paymentId: string;
  /** Creation time of the order's checkout. */
  readonly createdAt: Date;
}

export interface ReconcileOptions {
  readonly client: { readonly payments: Pick<Client['payments'], 'retrieve'> };
  /** Reads orders with a payment that are neither fulfilled nor abandoned. Called about once a minute. */
  readonly listOpenOrders: () => Promise<readonly OpenOrder[]> | readonly OpenOrder[];
  /** Called when a payment is paid. Do the same as the webhook handler, with `fulfilOnce`. */
  readonly onPaid: (payment: PaymentStatus) => Promise<void> | void;
  /** Called when a payment was canceled, usually because it expired. Close the order. */
  readonly onCanceled?: (payment: PaymentStatus) => Promise<void> | void;
  /** Called with an error of an order, or of the list (null). Other orders and the next round continue. */
  readonly onError?: (error: unknown, order: OpenOrder | null) => void;
  /** Signal that ends the loop after the current request. */
  readonly signal?: AbortSignal;
  /** Returns the current time in milliseconds since 1970; for tests. */
  readonly nowMs?: () => number;
  /** Waits until the time has passed or the signal aborts; for tests. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Returns a random number from 0 to 1; for tests. */
  readonly random?: () => number;
}

/**
 * Returns the polling interval for an order of this age. Polling slows down but never stops, because a payment can be
 * paid until it is canceled.
 */
export function pollIntervalMs(ageMs: number): number {
  if (ageMs < HOUR_MS) return 3 * MINUTE_MS;
  return ageMs < 24 * HOUR_MS ? 30 * MINUTE_MS : 6 * HOUR_MS;
}

/**
 * Finds payments with missed webhooks by polling the status of open orders until the signal aborts. Run it in only one
 * process, because several would poll more often without benefit. It keeps no state, so a restart reads all orders.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { signal, nowMs = Date.now, wait = waitFor, random = Math.random, onError = () => {} } = options;
  const isOver = () => signal?.aborted === true;
  const lastLooks = new Map<string, number>();
  while (!isOver()) {
    const orders = await listOrders(options, onError);
    if (orders !== null) forgetClosed(lastLooks, orders);
    for (const order of orders ?? []) {
      if (isOver()) return;
      const now = nowMs();
      const lastLook = lastLooks.get(order.paymentId);
      if (lastLook !== undefined && now - lastLook < pollIntervalMs(now - order.createdAt.getTime()))
        continue;
      lastLooks.set(order.paymentId, now);
      const pauseMs = await look(options, order, onError);
      await wait(pauseMs + random() * PACE_MS, signal);
    }
    if (!isOver()) await wait(ROUND_MS / 2 + random() * ROUND_MS, signal);
  }
}

/** Forgets closed orders to limit memory use. */
function forgetClosed(lastLooks: Map<string, number>, orders: readonly OpenOrder[]): void {
  const open = new Set(orders.map(({ paymentId }) => paymentId));
  for (const paymentId of lastLooks.keys()) if (!open.has(paymentId)) lastLooks.delete(paymentId);
}

async function listOrders(
  { listOpenOrders }: ReconcileOptions,
  onError: (error: unknown, order: null) => void,
): Promise<readonly OpenOrder[] | null> {
  try {
    return await listOpenOrders();
  } catch (error) {
    onError(error, null);
    return null;
  }
}

/** Reads an order's payment and resolves to the pause in ms before the next order. */
async function look(
  { client, onPaid, onCanceled }: ReconcileOptions,
  order: OpenOrder,
  onError: (error: unknown, order: OpenOrder) => void,
): Promise<number> {
  try {
    const payment = await client.payments.retrieve(order.paymentId);
    if (payment.status === 'paid') await onPaid(payment);
    if (payment.status === 'canceled') await onCanceled?.(payment);
    return PACE_MS;
  } catch (error) {
    onError(error, order);
    if (error instanceof ApiError && error.retryAfter !== null) return error.retryAfter * 1000;
    return error instanceof ConnectionError ? 5 * PACE_MS : PACE_MS;
  }
}

export function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
