import type { Payment, PaymentId } from '../payment/payment.ts';
import { firstIdAtMs } from '../payment/payment-id.ts';
import type { PaymentStore, PaymentView } from '../payment/payment-store.ts';
import { sumObservations } from '../payment/settle.ts';
import type { MistakenToken, SweepBalances } from './chain/chain.ts';
import { filterRows } from './journal.ts';
import type { BlockReference, ObservationStore } from './settlement-store.ts';

export interface SweepContext extends Readonly<{ payments: PaymentStore; observations: ObservationStore }> {
  readonly sweep: SweepBalances;
  readonly nowMs: () => number;
}

export type SweepResult = Awaited<ReturnType<typeof sweepOpenPayments>>;

/** Maximum payments per chunk, so that a chunk takes only a few milliseconds and does not delay the API. */
const PAYMENTS_AT_A_TIME = 100;

/** Minimum age of compared payments. Most are paid by then, so comparing younger ones would only add load. */
const MINIMUM_AGE_MS = 10 * 60_000;

/** Compares the balances of the next open payments above the id `after`, if they are at least `MINIMUM_AGE_MS` old. */
export async function sweepOpenPayments(context: SweepContext, after: string | null) {
  const cursor = await context.observations.readCursor();
  if (cursor === null) return { last: null, unexplained: [], open: [], blockNumber: 0 };
  const start = after ?? (await context.observations.readExpiryWatermark());
  const ids = await context.payments.listPaymentIds(
    start,
    firstIdAtMs(context.nowMs() - MINIMUM_AGE_MS),
    PAYMENTS_AT_A_TIME,
  );
  const { open, unexplained } = await findUnexplained(context, ids, cursor);
  return {
    open,
    blockNumber: cursor.number,
    /** Last checked payment, after which the next chunk starts; null at the end. */
    last: ids.length < PAYMENTS_AT_A_TIME ? null : (ids.at(-1) ?? null),
    /** Payments whose balance differs from the observed one, or whose releases exceed the observed deposits. */
    unexplained: unexplained.map(({ payment }) => payment.id),
  };
}

/** Finds open payments whose balance the observations do not explain. Throws `ChainUnavailableError`. */
export async function findUnexplained(
  { payments, sweep }: Pick<SweepContext, 'payments' | 'sweep'>,
  ids: readonly PaymentId[],
  cursor: BlockReference,
) {
  const views = await Promise.all(ids.map((id) => payments.viewPayment(id)));
  const open = views.filter((view): view is PaymentView => view !== null && isOnItsWay(view.payment));
  const balances = await readBalances(sweep, open, cursor.number);
  const unexplained = open.filter(({ observations }, index) => {
    // Balances are read at the cursor's block, so later deposits and releases do not count.
    const known = filterRows(observations, ({ blockNumber }) => blockNumber <= cursor.number);
    const { seenUnits, releasedUnits, heldUnits } = sumObservations(known);
    return releasedUnits > seenUnits || balances[index] !== heldUnits;
  });
  return { open, unexplained };
}

async function readBalances(sweep: SweepBalances, views: readonly PaymentView[], blockNumber: number) {
  const addresses = views.map(({ payment }) => payment.depositAddress);
  return addresses.length === 0 ? [] : sweep(addresses, blockNumber);
}

/** Finds payments whose address holds a mistaken token, such as bridged USDC. Throws `ChainUnavailableError`. */
export async function findMistakenToken(
  { sweepBalances }: MistakenToken,
  views: readonly PaymentView[],
  blockNumber: number,
): Promise<readonly PaymentId[]> {
  const balances = await readBalances(sweepBalances, views, blockNumber);
  return views.filter((_, index) => balances[index] !== 0n).map(({ payment }) => payment.id);
}

/** Returns whether the payment awaits a deposit or its release. */
function isOnItsWay({ status, forwardStatus }: Payment): boolean {
  return status === 'unpaid' || (status === 'paid' && forwardStatus !== 'completed');
}
