import type { LedgerStore } from '../domain/ports/ledger-store.ts';
import type { PaymentStore } from '../domain/ports/payment-store.ts';
import { settle } from '../domain/settle.ts';

export interface ExpirePaymentsContext {
  readonly payments: PaymentStore;
  readonly ledger: LedgerStore;
  readonly nowMs: () => number;
  readonly expiryMs: number;
}

const BATCH_SIZE = 500;

/**
 * Payments created before this moment are past their deadline, as far as the chain has been scanned: the deadline
 * must lie before the time of a final block that was scanned and before our own clock, whichever is earlier, so that
 * neither a clock that runs ahead nor a watcher that is behind expires anything.
 */
export async function readExpiredBeforeMs(context: ExpirePaymentsContext): Promise<number | null> {
  const cursor = await context.ledger.readCursor();
  return cursor === null ? null : Math.min(cursor.timestampMs, context.nowMs()) - context.expiryMs;
}

/**
 * Cancels what is past its deadline, oldest first, each payment visited once: ids are ordered by time, so the
 * frontier is an id. A payment that is not `pending` when it is visited and falls back later is judged where it
 * falls back. Returns how many payments were visited.
 */
export async function expirePayments(context: ExpirePaymentsContext): Promise<number> {
  const expiredBeforeMs = await readExpiredBeforeMs(context);
  if (expiredBeforeMs === null) return 0;
  const frontier = await context.ledger.readExpiryFrontier();
  const ids = await context.payments.listPaymentIds(frontier, firstIdAtMs(expiredBeforeMs), BATCH_SIZE);
  const last = ids.at(-1);
  if (last === undefined) return 0;
  await context.ledger.advanceExpiryFrontier(ids, last, (view) =>
    settle(view, { nowMs: context.nowMs(), expiredBeforeMs }),
  );
  return ids.length;
}

/** A text that sorts before all payment ids of this millisecond and later, and after all earlier ones. */
function firstIdAtMs(timeMs: number): string {
  const digits = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
