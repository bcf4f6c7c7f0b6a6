import { firstIdAtMs } from '../payment/payment-id.ts';
import type { PaymentView } from '../payment/payment-store.ts';
import { lastSessionEndMs, mayStillPay } from '../payment/provider-session.ts';
import { settle, sumObservations } from '../payment/settle.ts';
import { findUnexplained, type SweepContext } from './compare-balances.ts';
import type { BlockReference } from './settlement-store.ts';

export interface ExpirePaymentsContext extends SweepContext {
  /** Newest block that was read again at another host; null before the first rescan. */
  readonly rescannedTo: () => BlockReference | null;
  /** Age at which an unpaid payment expires, from `CHECKOUT_EXPIRY_HOURS` (default in `src/config/config.ts`). */
  readonly expiryMs: number;
}

const BATCH_SIZE = 500;
const NOTHING = { checked: 0, unexplained: [] };

/**
 * Cancels payments past their deadline, oldest first. A node may omit events, so a second host must have read the
 * blocks up to the deadline, and the balance must match. A matching balance alone is not enough, because it is also
 * zero if a deposit and its release were both omitted.
 */
export async function expirePayments(context: ExpirePaymentsContext) {
  const { observations, payments, expiryMs } = context;
  const cursor = await observations.readCursor();
  const rescannedTo = context.rescannedTo();
  if (cursor === null || rescannedTo === null) return NOTHING;
  const nowMs = context.nowMs();
  // Time up to which final blocks were read at two hosts, but never later than this machine's clock.
  const readUpToMs = Math.min(cursor.timestampMs, rescannedTo.timestampMs, nowMs);
  const own = await payments.listPastDeadline(readUpToMs, lastSessionEndMs(nowMs), BATCH_SIZE);
  const expiredBeforeMs = readUpToMs - expiryMs;
  const from = await observations.readExpiryWatermark();
  const ids = await payments.listPaymentIds(from, firstIdAtMs(expiredBeforeMs), BATCH_SIZE);
  if (own.length + ids.length === 0) return NOTHING;

  const { unexplained } = await findUnexplained(context, [...new Set([...own, ...ids])], cursor);
  const seenBefore = new Map(
    unexplained.map(({ payment, observations }) => [payment.id, sumObservations(observations).seenUnits]),
  );
  const decide = (view: PaymentView, expiredBeforeMs: number) => {
    const seenUnits = seenBefore.get(view.payment.id);
    if (seenUnits === undefined) return settle(view, { nowMs: context.nowMs(), expiredBeforeMs });
    // The payment stays unchanged until the money is observed. A deposit recorded during the chain call could not move
    // the watermark back, because the watermark had not passed this payment yet. This decision moves it back instead.
    return sumObservations(view.observations).seenUnits === seenUnits
      ? null
      : { change: {}, revisitExpiry: true as const };
  };
  // A payment waits while a provider session may still pay it, at most until the general deadline.
  const decided = await Promise.all(
    own.map((id) =>
      payments.decidePayment(id, (view) =>
        mayStillPay(view.sessions, nowMs) ? null : decide(view, Number.POSITIVE_INFINITY),
      ),
    ),
  );
  const to = ids.at(-1);
  if (to !== undefined)
    await observations.advanceExpiryWatermark(ids, { from, to }, (view) => decide(view, expiredBeforeMs));
  const canceled = decided.filter((payment) => payment?.status === 'canceled').length;
  // Unexplained payments do not expire, because their addresses hold money that was not observed.
  return { checked: ids.length + canceled, unexplained: [...seenBefore.keys()] };
}
