import { firstIdAtMs, type PaymentId } from '../domain/payment-id.ts';
import type { SweepBalances } from '../domain/ports/chain.ts';
import type { PaymentStore, PaymentView } from '../domain/ports/payment-store.ts';
import type { BlockReference, LedgerStore } from '../domain/ports/settlement-store.ts';
import { sumLedger } from '../domain/settle.ts';

export interface SweepContext {
  readonly payments: PaymentStore;
  readonly ledger: LedgerStore;
  readonly sweep: SweepBalances;
  readonly nowMs: () => number;
}

/** What a sweep over some payments found. */
export interface SweepResult {
  /** The last payment looked at, where the next portion goes on; null at the end. */
  readonly last: string | null;
  /** Open payments whose address holds, or has released, more than the ledger knows of. */
  readonly unexplained: readonly PaymentId[];
}

/** A portion is read within a few milliseconds, so that it does not hold up the API. */
const PAYMENTS_AT_A_TIME = 100;

/** Younger payments are left for later: most are paid by then, and looking at each new one would cost every create. */
const MINIMUM_AGE_MS = 10 * 60_000;

/**
 * Compares what the addresses of open payments older than ten minutes hold on chain with the ledger, in portions: `after` is the last payment of
 * the portion before, null for the first. Begins where the expiry step has come to: what is older is no longer
 * waiting for money.
 */
export async function sweepOpenPayments(context: SweepContext, after: string | null): Promise<SweepResult> {
  const cursor = await context.ledger.readCursor();
  if (cursor === null) return { last: null, unexplained: [] };
  const start = after ?? (await context.ledger.readExpiryWatermark());
  const ids = await context.payments.listPaymentIds(
    start,
    firstIdAtMs(context.nowMs() - MINIMUM_AGE_MS),
    PAYMENTS_AT_A_TIME,
  );
  const unexplained = await findUnexplained(context, ids, cursor);
  return {
    last: ids.length < PAYMENTS_AT_A_TIME ? null : (ids.at(-1) ?? null),
    unexplained: unexplained.map(({ payment }) => payment.id),
  };
}

/**
 * Which of these payments are unpaid although, at the newest final block that was scanned, their address holds more
 * than the ledger knows of, or more was released than the ledger saw arrive: the watcher was not told of an event. As
 * they were before the chain was asked. Throws `ChainUnavailableError`.
 */
export async function findUnexplained(
  context: Pick<SweepContext, 'payments' | 'sweep'>,
  ids: readonly PaymentId[],
  cursor: BlockReference,
): Promise<PaymentView[]> {
  const views = await Promise.all(ids.map((id) => context.payments.viewPayment(id)));
  const open = views.filter((view): view is PaymentView => view?.payment.status === 'unpaid');
  if (open.length === 0) return [];
  const addresses = open.map(({ payment }) => payment.depositAddress);
  const balances = await context.sweep(addresses, cursor.number);
  return open.filter(({ ledger }, index) => {
    const { seenUnits, releasedUnits, heldUnits } = sumLedger(ledgerAt(ledger, cursor.number));
    return releasedUnits > seenUnits || (balances[index] as bigint) > heldUnits;
  });
}

/** The ledger as it was at a block; what was seen later does not count yet. */
function ledgerAt(ledger: PaymentView['ledger'], blockNumber: number): PaymentView['ledger'] {
  const upTo = <Row extends { readonly blockNumber: number }>(rows: readonly Row[]) =>
    rows.filter((row) => row.blockNumber <= blockNumber);
  return { ...ledger, deposits: upTo(ledger.deposits), releases: upTo(ledger.releases) };
}
