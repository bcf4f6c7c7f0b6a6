import type { Client } from './client.ts';
import { ApiError, ConnectionError } from './errors.ts';
import type { PaymentStatus } from './wire.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Between two requests: at most 30 a minute of the 120 that a key has, so that confirming webhooks is not disturbed. */
const PACE_MS = 2_000;
const ROUND_MS = MINUTE_MS;

/** An order that waits for its payment. */
export interface OpenOrder {
  readonly paymentId: string;
  /** When its checkout was created. */
  readonly createdAt: Date;
}

export interface ReconcileOptions {
  readonly client: { readonly payments: Pick<Client['payments'], 'retrieve'> };
  /** Reads the orders that have a payment and are neither fulfilled nor given up. Called about once a minute. */
  readonly listOpenOrders: () => Promise<readonly OpenOrder[]> | readonly OpenOrder[];
  /** The payment is paid: do what the webhook's handler does, with `fulfilOnce`. */
  readonly onPaid: (payment: PaymentStatus) => Promise<void> | void;
  /** The payment was canceled, mostly because its time was over: close the order. */
  readonly onCanceled?: (payment: PaymentStatus) => Promise<void> | void;
  /** What went wrong with one order, or (null) with the list; the others and the next round go on. */
  readonly onError?: (error: unknown, order: OpenOrder | null) => void;
  /** Ends it, after the request that is under way. */
  readonly signal?: AbortSignal;
  /** The time now, in milliseconds since 1970; for tests. */
  readonly nowMs?: () => number;
  /** Waits, or less when the signal aborts; for tests. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** From 0 to 1; for tests. */
  readonly random?: () => number;
}

/**
 * How long after a look the next one at an order of this age is due: every three minutes during the first hour, then
 * every half hour for a day, then every six hours. A payment can be paid until it is canceled.
 */
export function pollIntervalMs(ageMs: number): number {
  if (ageMs < HOUR_MS) return 3 * MINUTE_MS;
  return ageMs < 24 * HOUR_MS ? 30 * MINUTE_MS : 6 * HOUR_MS;
}

/**
 * Finds the payments whose webhook was missed: asks for the status of open orders, again and again, until the signal
 * aborts. One process should run it; several only ask more often. It keeps nothing: after a restart it asks for all.
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

/** What is remembered grows no longer than the list of open orders. */
function forgetClosed(lastLooks: Map<string, number>, orders: readonly OpenOrder[]): void {
  const open = new Set(orders.map(({ paymentId }) => paymentId));
  for (const paymentId of lastLooks.keys()) if (!open.has(paymentId)) lastLooks.delete(paymentId);
}

/** The open orders, or null when they could not be read. */
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

/** Looks at one order and answers how long to pause before the next. */
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

/** Waits, or less when the signal aborts. */
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
